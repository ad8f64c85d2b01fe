#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "pax/base/text.h"
#include "tests/cli/paxml.h"

namespace pax {
namespace {

/// Loss of each step of a small float32 model on a mesh (replica, data, mdl), global batch 8.
std::vector<double> losses_on(const std::string& mesh, int devices, const std::filesystem::path& run,
                              const std::filesystem::path& text) {
  const std::string input = fmt::format(
      "input={{__class__: pax.TextInput, name: text, path: {}, batch_size: 8, seq_len: 16}}", text.string());
  const Ended ended = paxml({"train", "--exp", "LmCloudSpmdTest", "--fdl.FPROP_DTYPE=float32", "--fdl.MODEL_DIMS=32",
                             "--fdl.HIDDEN_DIMS=64", "--fdl.VOCAB_SIZE=320", "--fdl.LEARNING_RATE=1e-2",
                             "--fdl.LR_LRED_WARMUP=2", "--fdl.LR_LRED_DECAY_START=3", "--fdl.NUM_TRAIN_STEPS=20",
                             "--fdl.ICI_MESH_SHAPE=" + mesh, fmt::format("--fdl.PERCORE_BATCH_SIZE={}", 8.0 / devices),
                             "--set", input, "--set", "eval_inputs=[]", "--job_log_dir", run.string()});
  EXPECT_EQ(ended.exit_code, 0) << mesh << ": " << ended.err;
  std::vector<double> losses;
  if (ended.exit_code != 0) return losses;
  for (const std::string& line : split(read_file(run / "metrics.jsonl"), '\n')) {
    if (!line.empty()) losses.push_back(nlohmann::json::parse(line).at("loss"));
  }
  return losses;
}

/// Of the checkpoint that is saved before the first step.
std::string initial_hash(const std::filesystem::path& run) {
  return paxml({"checkpoint", "hash", run.string(), "--step", "0"}).out;
}

TEST(Sharding, OfAnyMeshTrainsAsOneDeviceDoes) {
  const TempDirectory files;
  const std::filesystem::path text = files.path() / "text.txt";
  write_text(text, 6000);
  const std::vector<double> expected = losses_on("[1,1,1]", 1, files.path() / "one", text);
  ASSERT_EQ(expected.size(), 20u);
  const std::pair<const char*, int> meshes[] = {{"[1,8,1]", 8}, {"[1,2,4]", 8}, {"[2,2,2]", 8}, {"[1,1,4]", 4}};
  for (const auto& [mesh, devices] : meshes) {
    SCOPED_TRACE(mesh);
    const std::vector<double> losses = losses_on(mesh, devices, files.path() / mesh, text);
    ASSERT_EQ(losses.size(), expected.size());
    EXPECT_EQ(initial_hash(files.path() / mesh), initial_hash(files.path() / "one"));
    for (size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(losses[i], expected[i], 1e-5 * expected[i]) << "step " << i + 1;
  }
}

}  // namespace
}  // namespace pax
