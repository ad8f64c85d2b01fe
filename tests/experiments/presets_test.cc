#include <gmock/gmock.h>

#include <charconv>

#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/data/batch.h"
#include "tests/experiments/testing.h"

namespace pax {
namespace {

/// Parameters by experiment: counted by Paxml 1.4 itself, or by hand for those that it does not have.
std::map<std::string, int64_t> expected_counts() {
  std::map<std::string, int64_t> counts;
  for (const std::string& line :
       split(read_file(std::string(PAX_SOURCE_DIR) + "/tests/experiments/param_counts.tsv"), '\n')) {
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.size() != 2) continue;
    std::from_chars(cells[1].data(), cells[1].data() + cells[1].size(), counts[cells[0]]);
  }
  return counts;
}

class EachPreset : public ::testing::TestWithParam<std::string> {};

TEST_P(EachPreset, IsValidCountsItsParametersAndTraces) {
  const config::Registry registry = make_registry();
  const ExperimentConfig config = preset(GetParam(), registry).build()->config();
  EXPECT_NO_THROW(validate_experiment(config));
  const auto counts = expected_counts();
  const auto expected = counts.find(GetParam());
  ASSERT_NE(expected, counts.end()) << "param_counts.tsv has no row; it counts " << count_params(config.task);
  EXPECT_EQ(count_params(config.task), expected->second);
  if (!config.input.has_field("seq_len")) return;
  const auto rows = *config.input.get<std::optional<int64_t>>("batch_size");
  const auto length = *config.input.get<std::optional<int64_t>>("seq_len");
  const TracedProgram program = trace_train_step(config.task, data::lm_batch_spec(rows, length));
  EXPECT_GT(program.graph->num_nodes(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, EachPreset, ::testing::ValuesIn(experiment_names()),
                         [](const auto& info) { return test_name(info.param); });

TEST(Presets, AreAllThatPaxHas) {
  const std::vector<std::string> names = experiment_names();
  for (const char* name :
       {"lm.lm_cloud.LmCloudSpmd1024B", "lm.lm_cloud.SmallMlp", "lm.c4.C4SpmdPipelineGpt3SmallAdam64Replicas",
        "lm.c4_multislice.C4Spmd32BAdam2xv5_256", "lm.optimal_scaling.OptimalScaling4x24x32", "lm.bert.BertAdamL4H128",
        "lm.nvidia.Grok_PP", "lm.nvidia.GLaM64B64EProxy_EP", "lm.nvidia.Llama2_70B", "lm.gpu.Pile175B"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
}

TEST(Presets, DeriveAnewWhatFollowsFromAConstant) {
  const config::Registry registry = make_registry();
  Tpl<Experiment> scaling = preset("OptimalScaling2x2x1", registry);
  scaling.set("NUM_LAYERS", int64_t{3});
  EXPECT_EQ(scaling.build()->config().task.model.get<int64_t>("lm_tpl.model_dims"), 384);
  Tpl<Experiment> mlperf = preset("C4SpmdPipelineGpt3AdamMLPerfHPBS2k512Replicas", registry);
  const auto schedule = [&] { return mlperf.build()->config().task.train.learner.get<Tpl<Optimizer>>("optimizer"); };
  EXPECT_EQ(schedule().get<int64_t>("lr_schedule.warmup_steps"), 199);
  EXPECT_EQ(schedule().get<int64_t>("lr_schedule.decay_end"), 81450);
  EXPECT_EQ(schedule().get<double>("learning_rate"), 2e-5);
  mlperf.set("PERCORE_BATCH_SIZE", 8.0);
  EXPECT_EQ(schedule().get<int64_t>("lr_schedule.warmup_steps"), 100);
  EXPECT_EQ(schedule().get<double>("learning_rate"), 3e-5);
}

}  // namespace
}  // namespace pax
