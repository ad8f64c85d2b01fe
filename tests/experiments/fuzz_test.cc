#include <gtest/gtest.h>

#include <chrono>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/data/compression.h"
#include "pax/experiments/load.h"
#include "pax/interop/fiddle/fiddle.h"
#include "pax/interop/maxtext/maxtext.h"
#include "tests/config/mutator.h"
#include "tests/experiments/testing.h"

namespace pax {
namespace {

/// Reads mutations of `text` for three seconds, 25 at the least; whatever comes of it is a result or one of this
/// program's errors.
template <class Read>
void fuzz(const std::string& text, Read&& read) {
  Mutator mutator(17);
  int refused = 0, rounds = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (; rounds < 25 || std::chrono::steady_clock::now() < end; ++rounds) {
    try {
      read(mutator.mutate(text));
    } catch (const ConfigError&) {
      ++refused;
    } catch (const RuntimeError&) {
      ++refused;
    } catch (const ShapeError&) {
      ++refused;
    }
  }
  EXPECT_GT(rounds, 20);
  EXPECT_GT(refused, 0);
}

TEST(Fuzz, FiddleReaderTakesAnyText) {
  const config::Registry registry = make_registry();
  std::string dump;
  data::expand_to(data::Compression::kGzip,
                  read_file(std::string(PAX_SOURCE_DIR) + "/tests/experiments/fiddle/lm.lm_cloud.SmallMlp.json.gz"),
                  [&](std::string_view piece) { dump += piece; });
  fuzz(dump, [&](const std::string& text) { task_from_fiddle(text, "fuzz", registry); });
}

TEST(Fuzz, ExperimentFilesTakeAnyText) {
  const config::Registry registry = make_registry();
  const TempDirectory files;
  const std::filesystem::path file = files.path() / "fuzz.yaml";
  fuzz(
      "base: LmCloudSpmdPipeline9B\nNUM_LAYERS: 4\nNUM_STAGES: 2\nICI_MESH_SHAPE: [2, 1, 1, 1]\nDIMS_PER_HEAD: 8\n"
      "task: {train: {num_train_steps: 1e3}, model: {lm_tpl: {final_ln_tpl: &a {__class__: RmsNorm}}}}\n",
      [&](const std::string& text) {
        write_file_atomically(file, text);
        config::Errors errors;
        const LoadedExperiment loaded = load_experiment({.file = file}, registry, errors);
        validate_experiment(loaded.config, errors);
        errors.throw_if_any();
      });
}

TEST(Fuzz, MaxTextFilesTakeAnyText) {
  const TempDirectory files;
  const std::filesystem::path file = files.path() / "fuzz.yml";
  fuzz(
      "model_name: llama2-7b\noverride_model_config: true\nsteps: 100\nbase_emb_dim: 64\nper_device_batch_size: 0.5\n"
      "ici_fsdp_parallelism: 4\nmlp_activations: [silu, linear]\nglobal_parameter_scale: 8\nadam_eps: 1e-6\n",
      [&](const std::string& text) {
        write_file_atomically(file, text);
        validate_experiment(from_maxtext(std::span(&file, 1), {}).config);
      });
}

}  // namespace
}  // namespace pax
