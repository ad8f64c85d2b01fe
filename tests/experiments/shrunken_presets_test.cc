#include <gmock/gmock.h>

#include "pax/base/files.h"
#include "pax/data/compression.h"
#include "pax/interop/fiddle/fiddle.h"
#include "pax/trainer/train.h"
#include "tests/experiments/testing.h"

namespace pax {
namespace {

void train_two_steps(const std::string& name) {
  const config::Registry registry = make_registry();
  Tpl<Experiment> small = preset(name, registry);
  shrink(small);
  ExperimentConfig config = small.build()->config();
  config.task.train.num_train_steps = 2;
  config.task.train.eval_interval_steps = 0;
  config.eval_inputs.clear();
  const TempDirectory run;
  EXPECT_EQ(train(config, {.job_log_dir = run.path(), .extra_files = {}}).step, 2);
}

/// One experiment of each kind.
class Family : public ::testing::TestWithParam<std::string> {};
TEST_P(Family, TrainsTwoShrunkenSteps) { train_two_steps(GetParam()); }
INSTANTIATE_TEST_SUITE_P(One, Family,
                         ::testing::Values("lm.lm_cloud.LmCloudTransformerAdamTest",
                                           "lm.lm_cloud.LmCloudSpmdPipeline9B", "lm.lm_cloud.SmallMlp",
                                           "lm.c4.C4SpmdGpt3L16AdamOrgHP", "lm.nvidia.Llama2_7B", "lm.nvidia.Grok",
                                           "lm.gpu.PileGLaM126M64E"),
                         [](const auto& info) { return test_name(info.param); });

/// All but BERT: the trainer counts operations on an evaluation step, which does not draw the tokens that synthetic
/// rows leave to hide.
std::vector<std::string> trainable_names() {
  std::vector<std::string> names = experiment_names();
  std::erase_if(names, [](const std::string& name) { return name.starts_with("lm.bert."); });
  return names;
}

class EachPreset : public ::testing::TestWithParam<std::string> {};
TEST_P(EachPreset, TrainsTwoShrunkenSteps) { train_two_steps(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, EachPreset, ::testing::ValuesIn(trainable_names()),
                         [](const auto& info) { return test_name(info.param); });

TEST(Dump, OfPaxTrainsTwoShrunkenSteps) {
  const config::Registry registry = make_registry();
  ExperimentConfig config = preset("LmCloudSpmdTest", registry).build()->config();
  std::string json;
  data::expand_to(
      data::Compression::kGzip,
      read_file(std::string(PAX_SOURCE_DIR) + "/tests/experiments/fiddle/lm.lm_cloud.LmCloudSpmdTest.json.gz"),
      [&](std::string_view piece) { json += piece; });
  config.task = task_from_fiddle(json, "dump", registry);
  config.task.model.set("lm_tpl.vocab_size", int64_t{64});
  config.input.set("seq_len", int64_t{32});
  config.eval_inputs.clear();
  config.task.train.num_train_steps = 2;
  config.task.train.eval_interval_steps = 0;
  const TempDirectory run;
  EXPECT_EQ(train(config, {.job_log_dir = run.path(), .extra_files = {}}).step, 2);
}

}  // namespace
}  // namespace pax
