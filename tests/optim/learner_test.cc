#include "pax/optim/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pax/base/error.h"
#include "pax/optim/adafactor.h"
#include "pax/optim/adam.h"
#include "pax/optim/multi_optimizer_learner.h"
#include "pax/optim/ramp_schedules.h"
#include "pax/optim/sgd.h"
#include "tests/optim/training.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

auto near(double value) { return DoubleNear(value, 1e-5); }

Learner::Config sgd_learner(double rate = 1) {
  Learner::Config config;
  config.optimizer = with_rate(Sgd::Config{}, rate);
  return config;
}

TEST(Learner, ClipsTheNormOfAllGradientsTogether) {
  Learner::Config config = sgd_learner();
  config.optimizer.set("clip_gradient_norm_to_value", 1.0);
  const Learner learner(config);
  Training training(learner, {variable("a", {1}), variable("b", {1})}, {{"a", f32({0}, {1})}, {"b", f32({0}, {1})}});
  training.step({{"a", f32({3}, {1})}, {"b", f32({4}, {1})}});
  EXPECT_THAT(training.weight("a"), ElementsAre(near(-0.6)));
  EXPECT_THAT(training.weight("b"), ElementsAre(near(-0.8)));
  EXPECT_THAT(training.metric("learning/raw_grad_norm"), near(5));
  EXPECT_THAT(training.metric("learning/clipped_grad_norm"), near(1));
  EXPECT_THAT(training.metric("learning/grad_scale"), near(0.2));
}

TEST(Learner, ClipsEachVariableByItself) {
  Learner::Config config = sgd_learner();
  config.optimizer.set("clip_gradient_single_norm_to_value", 1.0);
  const Learner learner(config);
  Training training(learner, {variable("a", {1}), variable("b", {1})}, {{"a", f32({0}, {1})}, {"b", f32({0}, {1})}});
  training.step({{"a", f32({3}, {1})}, {"b", f32({0.5}, {1})}});
  EXPECT_THAT(training.weight("a"), ElementsAre(near(-1)));
  EXPECT_THAT(training.weight("b"), ElementsAre(near(-0.5)));
}

/// Adam with a ramp that doubles its rate each step, and an average of the weights.
Learner::Config averaged_adam() {
  LinearRampupPolynomialDecay::Config ramp;
  ramp.warmup_steps = 10;
  ramp.decay_start = 10;
  ramp.decay_end = 20;
  ramp.max = 1;
  Adam::Config adam;
  adam.learning_rate = 1;
  adam.lr_schedule = ramp;
  adam.ema_decay = 0.9;
  Learner::Config config;
  config.optimizer = adam;
  return config;
}

TEST(Learner, SkippedStepLeavesEverythingAsItWas) {
  const Learner learner(averaged_adam());
  Training training(learner, {variable("w", {2})}, {{"w", f32({1, 2}, {2})}});
  training.step({{"w", f32({0.5, -1}, {2})}});
  const HostTree before = training.values();
  training.step({{"w", f32({std::numeric_limits<double>::quiet_NaN(), 1}, {2})}});
  for (const auto& [name, value] : before) {
    EXPECT_EQ(training.values().at(name).to_doubles(), value.to_doubles()) << name;
  }
  EXPECT_EQ(training.metric("learning/is_valid_step"), 0);
  EXPECT_EQ(training.metric("learning/applied_grad_norm"), 0);
  // The rate has not moved on either.
  training.step({{"w", f32({1, 1}, {2})}});
  EXPECT_THAT(training.metric("learning/lr"), near(0.1));
}

TEST(Learner, SkipsStepsWhoseNormReachesTheBound) {
  Learner::Config config = sgd_learner();
  config.skip_step_gradient_norm_value = 5;
  const Learner learner(config);
  Training training(learner, {variable("w", {1})}, {{"w", f32({0}, {1})}});
  training.step({{"w", f32({5}, {1})}});
  EXPECT_THAT(training.weight("w"), ElementsAre(0));
  training.step({{"w", f32({4.9}, {1})}});
  EXPECT_THAT(training.weight("w"), ElementsAre(near(-4.9)));
}

TEST(Learner, AveragesTheWeightsBeforeTheUpdate) {
  Learner::Config config = sgd_learner();
  config.optimizer.set("ema_decay", 0.9);
  const Learner learner(config);
  Training training(learner, {variable("w", {1})}, {{"w", f32({1}, {1})}});
  const auto grad = HostTree{{"w", f32({1}, {1})}};
  training.step(grad);  // average of 1 and 1
  EXPECT_THAT(training.state("ema/params/w"), ElementsAre(near(1)));
  training.step(grad);  // decay min(0.9, 2/11); weight 0
  EXPECT_THAT(training.state("ema/params/w"), ElementsAre(near(2.0 / 11)));
}

TEST(Learner, TreatsStackedLayersAsSeparateVariables) {
  ShardedAdafactor::Config adafactor;
  adafactor.decay_method = "adam";
  adafactor.decay_adam = 0.9;
  adafactor.beta1 = 0.9;
  adafactor.multiply_by_parameter_scale = true;
  Learner::Config config;
  config.optimizer = with_rate(adafactor, 0.1);
  const Learner learner(config);
  const TensorType one{DType::kF32, {3, 4}};
  const HostArray a = random_array(one, -1, 1, 1), b = random_array(one, -3, 3, 2);
  const auto both = [](const HostArray& x, const HostArray& y) {
    std::vector<double> values = x.to_doubles();
    const std::vector<double> more = y.to_doubles();
    values.insert(values.end(), more.begin(), more.end());
    return f32(values, {2, 3, 4});
  };
  Training apart(learner, {variable("a", {3, 4}), variable("b", {3, 4})}, {{"a", a}, {"b", b}});
  Training stacked(learner, {variable("w", {3, 4}, {2})}, {{"w", both(a, b)}});
  for (uint64_t step = 0; step < 3; ++step) {
    const HostArray ga = random_array(one, -1, 1, 10 + step), gb = random_array(one, -0.1, 0.1, 20 + step);
    apart.step({{"a", ga}, {"b", gb}});
    stacked.step({{"w", both(ga, gb)}});
  }
  std::vector<double> expected = apart.weight("a");
  for (const double value : apart.weight("b")) expected.push_back(value);
  const std::vector<double> got = stacked.weight("w");
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-6) << i;
}

TEST(Learner, LeavesExcludedVariablesWithoutState) {
  Learner::Config config;
  config.optimizer = with_rate(Adam::Config{}, 0.1);
  config.bprop_variable_exclusion = std::string("params/frozen/.*");
  const Learner learner(config);
  const std::deque<Param> params{variable("frozen/w", {2}), variable("live/w", {2})};
  const std::vector<const Param*> trained = learner.trained(params);
  ASSERT_EQ(trained.size(), 1u);
  EXPECT_EQ(trained[0]->path, "live/w");
  for (const StateSpec& spec : learner.state_specs(params)) EXPECT_THAT(spec.name, Not(HasSubstr("frozen")));
}

TEST(Learner, ExclusionMatchesWholeNames) {
  Learner::Config config = sgd_learner();
  config.bprop_variable_exclusion = std::vector<std::string>{"params/a", "params/b.*"};
  const Learner learner(config);
  const std::deque<Param> params{variable("a", {2}), variable("a2", {2}), variable("b2", {2})};
  ASSERT_EQ(learner.trained(params).size(), 1u);
  EXPECT_EQ(learner.trained(params)[0]->path, "a2");
}

TEST(Learner, NamesTheGradientThatIsMissing) {
  const Learner learner(sgd_learner());
  Training training(learner, {variable("w", {1})}, {{"w", f32({0}, {1})}});
  try {
    training.step({});
    FAIL() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("gradient"), HasSubstr("params/w")));
  }
}

TEST(Learner, OverwritesTaggedVariablesWithTheirGradient) {
  const Learner learner(sgd_learner());
  Param scale = variable("scale", {1});
  scale.spec.tags.overwrite_with_gradient = true;
  Training training(learner, {scale, variable("w", {1})}, {{"scale", f32({1}, {1})}, {"w", f32({0}, {1})}});
  training.step({{"scale", f32({42}, {1})}, {"w", f32({1}, {1})}});
  EXPECT_THAT(training.weight("scale"), ElementsAre(42));
  EXPECT_THAT(training.metric("learning/raw_grad_norm"), near(1));
}

TEST(MultiOptimizerLearner, GivesEachVariableItsOptimizer) {
  MultiOptimizerLearner::Config config;
  config.optimizer = with_rate(Sgd::Config{}, 1);
  config.auxiliary_optimizers = {with_rate(Sgd::Config{}, 10)};
  config.auxiliary_regex = {"params/emb"};
  config.auxiliary_names = {"emb"};
  const MultiOptimizerLearner learner(config);
  Training training(learner, {variable("emb/w", {1}), variable("w", {1})},
                    {{"emb/w", f32({0}, {1})}, {"w", f32({0}, {1})}});
  training.step({{"emb/w", f32({1}, {1})}, {"w", f32({1}, {1})}});
  EXPECT_THAT(training.weight("emb/w"), ElementsAre(near(-10)));
  EXPECT_THAT(training.weight("w"), ElementsAre(near(-1)));
  EXPECT_THAT(training.metric("learning/lr_emb"), near(10));
  EXPECT_THAT(training.metric("learning/lr_main"), near(1));
}

TEST(MultiOptimizerLearner, ClipsEachShareAsItsOptimizerSays) {
  MultiOptimizerLearner::Config config;
  Sgd::Config clipped = with_rate(Sgd::Config{}, 1);
  clipped.clip_gradient_norm_to_value = 1;
  config.optimizer = with_rate(Sgd::Config{}, 1);
  config.auxiliary_optimizers = {clipped};
  config.auxiliary_regex = {"params/emb"};
  config.auxiliary_names = {"emb"};
  config.apply_separate_scaling = true;
  const MultiOptimizerLearner learner(config);
  Training training(learner, {variable("emb/w", {1}), variable("w", {1})},
                    {{"emb/w", f32({0}, {1})}, {"w", f32({0}, {1})}});
  training.step({{"emb/w", f32({5}, {1})}, {"w", f32({5}, {1})}});
  EXPECT_THAT(training.weight("emb/w"), ElementsAre(near(-1)));
  EXPECT_THAT(training.weight("w"), ElementsAre(near(-5)));
}

TEST(MultiOptimizerLearner, RefusesOverlappingPatterns) {
  MultiOptimizerLearner::Config config;
  config.optimizer = with_rate(Sgd::Config{}, 1);
  config.auxiliary_optimizers = {with_rate(Sgd::Config{}, 1), with_rate(Sgd::Config{}, 1)};
  config.auxiliary_regex = {"params/a", "params/.*"};
  config.auxiliary_names = {"one", "two"};
  const MultiOptimizerLearner learner(config);
  try {
    learner.state_specs({variable("a", {1})});
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("one"), HasSubstr("two"), HasSubstr("params/a")));
  }
}

}  // namespace
}  // namespace pax
