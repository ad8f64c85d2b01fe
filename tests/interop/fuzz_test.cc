// Damaged configs, indices and weights end in one of our errors, never in a crash, a hang or a huge allocation.

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/interop/huggingface/model.h"

namespace pax::hf {
namespace {

namespace fs = std::filesystem;

std::string mutated(std::string text, std::mt19937& random) {
  const auto pick = [&](size_t below) { return below == 0 ? size_t{0} : random() % below; };
  for (size_t changes = 1 + pick(3); changes-- > 0 && !text.empty();) {
    const size_t at = pick(text.size());
    switch (pick(5)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << pick(8)));
        break;
      case 1:
        text.resize(at);
        break;
      case 2:
        text.insert(at, text.substr(pick(text.size()), pick(16)));
        break;
      case 3:
        text.replace(at, 1, "\xff\xff\xff\xff\xff\xff\xff\x0f");
        break;
      default:
        text.replace(at, 1, "9999999999999");
    }
  }
  return text;
}

/// Imports a folder of which `file` is damaged in many ways. What parses must still be importable or refused.
void fuzz(const std::string& file, const std::string& from, int rounds) {
  const fs::path source = fs::path(PAX_SOURCE_DIR) / "tests/golden/hf/gpt2";
  const std::string original = read_file(from.empty() ? source / file : fs::path(from));
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round) {
    const TempDirectory folder;
    for (const char* name : {"config.json", "model.safetensors"}) fs::copy_file(source / name, folder.path() / name);
    std::ofstream(folder.path() / file, std::ios::binary | std::ios::trunc) << mutated(original, random);
    try {
      const HfConfig config(read_file(folder.path() / "config.json"), "config.json");
      const WeightFiles files(folder.path());
      import_model(config, files);
    } catch (const Error&) {
    }
  }
}

TEST(FuzzHuggingFace, Config) { fuzz("config.json", "", 300); }
TEST(FuzzHuggingFace, Weights) { fuzz("model.safetensors", "", 300); }

TEST(FuzzHuggingFace, Index) {
  const TempDirectory folder;
  const fs::path index = folder.path() / "index.json";
  std::ofstream(index) << R"({"metadata": {"total_size": 1}, "weight_map": {"transformer.wte.weight": )"
                       << R"("model.safetensors", "transformer.wpe.weight": "model.safetensors"}})";
  fuzz("model.safetensors.index.json", index, 500);
}

}  // namespace
}  // namespace pax::hf
