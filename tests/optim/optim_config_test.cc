#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/config/yaml.h"
#include "pax/optim/adam.h"
#include "pax/optim/multi_optimizer_learner.h"
#include "pax/optim/registry.h"
#include "pax/optim/schedules.h"
#include "pax/optim/sgd.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

config::Registry registry() {
  config::Registry registry;
  register_optim(registry);
  return registry;
}

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "(no error)";
}

std::string build_error(const std::string& yaml) {
  return error_of([&] { config::parse<Learner>(yaml, registry()).build(); });
}

TEST(OptimRegistry, KnowsAllSchedulesOfPraxis) {
  EXPECT_THAT(registry().implementing(config::type_name<Schedule>()), SizeIs(17));
}

TEST(OptimRegistry, ReadsALearnerByPraxisNames) {
  const auto learner = config::parse<Learner>(R"(
__class__: paxml.learners.Learner
optimizer:
  __class__: praxis.optimizers.Adam
  beta2: 0.95
  learning_rate: 0.5
  lr_schedule: {__class__: Linear, start: [0, 0.0], limit: [10, 1.0]}
)",
                                              registry())
                           .build();
  EXPECT_NEAR(learner->learning_rate_at(5), 0.25, 1e-7);
}

TEST(OptimRegistry, PrintsWhatItReads) {
  Learner::Config config;
  config.optimizer = Adam::hparams_a();
  config.bprop_variable_exclusion = std::string("params/.*bias");
  const std::string text = config::print(config::Ref(Tpl<Learner>(config)));
  const auto again = config::parse<Learner>(text, registry());
  EXPECT_EQ(config::print(config::Ref(again)), text);
  EXPECT_EQ(again.get<double>("optimizer.beta2"), 0.997);
}

TEST(OptimizerConfig, RefusesWhatExcludesEachOther) {
  EXPECT_THAT(build_error("{__class__: Learner, optimizer: {__class__: Adam, l1_regularizer_weight: 0.1, "
                          "l2_regularizer_weight: 0.1}}"),
              AllOf(HasSubstr("l1_regularizer_weight"), HasSubstr("L2")));
  EXPECT_THAT(build_error("{__class__: Learner, optimizer: {__class__: Adam, decoupled_weight_decay: 0.1, "
                          "l2_regularizer_weight: 0.1}}"),
              HasSubstr("decoupled_weight_decay"));
  EXPECT_THAT(build_error("{__class__: Learner, optimizer: {__class__: Adam, clip_gradient_norm_to_value: 1, "
                          "clip_gradient_single_norm_to_value: 1}}"),
              HasSubstr("clip_gradient_single_norm_to_value"));
  EXPECT_THAT(build_error("{__class__: Learner, optimizer: {__class__: ShardedAdafactor, decay_method: square}}"),
              AllOf(HasSubstr("decay_method"), HasSubstr("square")));
}

TEST(LearnerConfig, NamesWhatIsMissing) {
  EXPECT_THAT(build_error("{__class__: Learner}"), HasSubstr("optimizer"));
  EXPECT_THAT(build_error("{__class__: Learner, optimizer: {__class__: ShardedStaticAccumulator}}"),
              HasSubstr("optimizer_tpl"));
  EXPECT_THAT(error_of([] {
                Learner::Config config;
                config.optimizer = Adam::Config{};
                Learner(config).learning_rate_at(0);
              }),
              HasSubstr("lr_schedule"));
}

TEST(LearnerConfig, RefusesInclusionWithExclusion) {
  EXPECT_THAT(build_error("{__class__: Learner, optimizer: {__class__: Adam}, bprop_variable_exclusion: [a], "
                          "bprop_variable_inclusion: [b]}"),
              HasSubstr("bprop_variable_inclusion"));
}

TEST(LearnerConfig, QuotesAPatternThatIsNone) {
  EXPECT_THAT(build_error("{__class__: Learner, optimizer: {__class__: Adam}, bprop_variable_exclusion: ['a(']}"),
              HasSubstr("a("));
}

TEST(MultiOptimizerLearnerConfig, CountsItsLists) {
  EXPECT_THAT(build_error("{__class__: MultiOptimizerLearner, optimizer: {__class__: Adam}, auxiliary_optimizers: "
                          "[{__class__: Sgd}], auxiliary_regex: [a, b], auxiliary_names: [c]}"),
              AllOf(HasSubstr("auxiliary_regex"), HasSubstr("2 entries")));
}

}  // namespace
}  // namespace pax
