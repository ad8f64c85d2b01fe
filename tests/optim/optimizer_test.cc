#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pax/optim/adafactor.h"
#include "pax/optim/adam.h"
#include "pax/optim/muon.h"
#include "pax/optim/optax_optimizer.h"
#include "pax/optim/sgd.h"
#include "pax/optim/static_accumulator.h"
#include "tests/optim/training.h"

namespace pax {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Pointwise;

MATCHER_P(NearTo, tolerance, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance; }

Learner::Config learner_with(const Tpl<Optimizer>& optimizer) {
  Learner::Config config;
  config.optimizer = optimizer;
  return config;
}

/// The weights after `steps` of the gradient `grad`.
std::vector<double> train(const Tpl<Optimizer>& optimizer, const HostArray& weight, const HostArray& grad, int steps,
                          std::vector<int64_t> prefix = {}) {
  const Learner learner(learner_with(optimizer));
  const Shape own(weight.shape().dims().subspan(prefix.size()));
  Training training(learner, {variable("w", own, prefix)}, {{"w", weight}});
  for (int i = 0; i < steps; ++i) training.step({{"w", grad}});
  return training.weight("w");
}

/// Adam in float64 as its paper writes it, with the cap on the update's rms.
std::vector<double> adam_by_hand(const std::vector<double>& weight, const std::vector<double>& grad, int steps,
                                 double rate, double cap) {
  const double b1 = 0.9, b2 = 0.999, eps = 1e-6;
  std::vector<double> w = weight, m(w.size()), v(w.size());
  for (int t = 1; t <= steps; ++t) {
    std::vector<double> u(w.size());
    double mean_square = 0;
    for (size_t i = 0; i < w.size(); ++i) {
      m[i] = b1 * m[i] + (1 - b1) * grad[i];
      v[i] = b2 * v[i] + (1 - b2) * grad[i] * grad[i];
      u[i] = m[i] / (1 - std::pow(b1, t)) / (std::sqrt(v[i] / (1 - std::pow(b2, t))) + eps);
      mean_square += u[i] * u[i] / static_cast<double>(w.size());
    }
    const double divisor = std::max(1.0, std::sqrt(mean_square) / cap);
    for (size_t i = 0; i < w.size(); ++i) w[i] -= rate * u[i] / divisor;
  }
  return w;
}

const std::vector<double> kWeight{0.5, -1, 2, 0.1}, kGrad{0.3, -0.02, 1.5, -0.7};

TEST(Adam, IsAdamWithItsUpdateCapped) {
  Adam::Config config;
  config.clip_threshold = 0.5;
  EXPECT_THAT(train(with_rate(config, 0.1), f32(kWeight, {4}), f32(kGrad, {4}), 3),
              Pointwise(NearTo(1e-5), adam_by_hand(kWeight, kGrad, 3, 0.1, 0.5)));
}

TEST(Adam, OfOptaxIsAdamWithoutCap) {
  Adam::Config config;
  config.sharded_adam = false;
  EXPECT_THAT(train(with_rate(config, 0.1), f32(kWeight, {4}), f32(kGrad, {4}), 3),
              Pointwise(NearTo(1e-5), adam_by_hand(kWeight, kGrad, 3, 0.1, 1e9)));
}

TEST(Sgd, WithNesterovLooksAhead) {
  Sgd::Config config;
  config.momentum = 0.5;
  config.nesterov = true;
  // Traces 1 and 1.5; steps 1 + 0.5 * trace.
  EXPECT_THAT(train(with_rate(config, 1), f32({0}, {1}), f32({1}, {1}), 2), ElementsAre(DoubleNear(-3.25, 1e-6)));
}

TEST(Optimizer, DecoupledDecayKnowsTheRate) {
  Sgd::Config config;
  config.decoupled_weight_decay = 0.1;
  EXPECT_THAT(train(with_rate(config, 0.5), f32({2}, {1}), f32({0}, {1}), 1), ElementsAre(DoubleNear(1.9, 1e-6)));
}

TEST(Optimizer, L1AndL2JoinTheGradient) {
  Sgd::Config l1, l2;
  l1.l1_regularizer_weight = 0.1;
  l2.l2_regularizer_weight = 0.1;
  EXPECT_THAT(train(with_rate(l1, 1), f32({-2}, {1}), f32({0}, {1}), 1), ElementsAre(DoubleNear(-1.9, 1e-6)));
  EXPECT_THAT(train(with_rate(l2, 1), f32({-2}, {1}), f32({0}, {1}), 1), ElementsAre(DoubleNear(-1.8, 1e-6)));
}

TEST(Optimizer, SkipsRegularizationOfVectorsLayerByLayer) {
  Sgd::Config config;
  config.l2_regularizer_weight = 0.1;
  config.skip_lp_1d_vectors = true;
  const HostArray two = f32({1, 1, 1, 1}, {2, 2}), none = f32({0, 0, 0, 0}, {2, 2});
  EXPECT_THAT(train(with_rate(config, 1), two, none, 1),
              ElementsAre(DoubleNear(0.9, 1e-6), DoubleNear(0.9, 1e-6), DoubleNear(0.9, 1e-6), DoubleNear(0.9, 1e-6)));
  EXPECT_THAT(train(with_rate(config, 1), two, none, 1, {2}), ElementsAre(1, 1, 1, 1));
}

TEST(Optimizer, ElasticConsolidationPullsBackToTheFirstWeights) {
  Sgd::Config config;
  config.ewc_regularizer_weight = 0.5;
  // First step: -1. Second: -1 and -0.25 * (1 - 2) back.
  EXPECT_THAT(train(with_rate(config, 1), f32({2}, {1}), f32({1}, {1}), 2), ElementsAre(DoubleNear(0.25, 1e-6)));
}

ShardedAdafactor::Config adafactor() {
  ShardedAdafactor::Config config;
  config.decay_method = "adam";
  config.decay_adam = 0.9;
  config.beta1 = 0.9;
  return config;
}

TEST(ShardedAdafactor, KeepsRowAndColumnMeansAndSmallMomentum) {
  const Learner learner(learner_with(with_rate(adafactor(), 0.1)));
  Param param = variable("w", {3, 4}, {2});
  param.spec.split = {{}, {"data"}, {"mdl"}};
  const std::vector<StateSpec> specs = learner.state_specs({param});
  const auto has = [&](std::string name, TensorType type, Sharding sharding) {
    EXPECT_THAT(specs, Contains(::testing::AllOf(Field(&StateSpec::name, name), Field(&StateSpec::type, type),
                                                 Field(&StateSpec::sharding, sharding))))
        << name;
  };
  has("opt_states_0/raw/m/params/w", {DType::kS8, {2, 3, 4}}, {{{}, {"data"}, {"mdl"}}});
  has("opt_states_0/raw/m_scale/params/w", {DType::kF32, {2, 4}}, {{{}, {"mdl"}}});
  has("opt_states_0/raw/vr/params/w", {DType::kF32, {2, 3}}, {{{}, {"data"}}});
  has("opt_states_0/raw/vc/params/w", {DType::kF32, {2, 4}}, {{{}, {"mdl"}}});
}

TEST(StaticAccumulator, TakesOneStepWithTheMean) {
  StaticAccumulator::Config config;
  config.optimizer_tpl = with_rate(Adam::Config{}, 0.1);
  config.num_sub_batches = 3;
  const Learner learner(learner_with(config));
  Training training(learner, {variable("w", {4})}, {{"w", f32(kWeight, {4})}});
  for (int step = 0; step < 2; ++step) {
    for (int sub = 0; sub < 3; ++sub) {
      EXPECT_THAT(training.weight("w"), Pointwise(NearTo(1e-5), adam_by_hand(kWeight, kGrad, step, 0.1, 1)));
      std::vector<double> grad = kGrad;
      for (double& g : grad) g *= sub;  // mean over 0, 1, 2: the gradient itself
      training.step({{"w", f32(grad, {4})}});
    }
  }
  EXPECT_THAT(training.weight("w"), Pointwise(NearTo(1e-5), adam_by_hand(kWeight, kGrad, 2, 0.1, 1)));
}

TEST(OptaxOptimizer, HasTheInnerRateAndTheOuterDecay) {
  OptaxOptimizer::Config config;
  config.grad_tx = with_rate(Sgd::Config{}, 0.25);
  config.decoupled_weight_decay = 0.1;
  EXPECT_THAT(train(with_rate(config, 1), f32({2}, {1}), f32({1}, {1}), 1), ElementsAre(DoubleNear(1.55, 1e-6)));
}

TEST(Muon, MakesEveryDirectionCountAlike) {
  const HostArray weight = f32(std::vector<double>(12, 0.0), {3, 4});
  const HostArray grad = random_array({DType::kF32, {3, 4}}, -1, 1, 7);
  const std::vector<double> w = train(with_rate(Muon::Config{}, 1), weight, grad, 1);
  // w w^T is near the identity times columns / rows; five iterations bring singular values to within 0.3 of 1.
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      double dot = 0;
      for (int k = 0; k < 4; ++k) dot += w[static_cast<size_t>(4 * i + k)] * w[static_cast<size_t>(4 * j + k)];
      EXPECT_NEAR(dot * 3 / 4, i == j ? 1 : 0, 0.6);
    }
  }
}

TEST(Adam, TurnsInfinitiesIntoNaN) {
  Learner::Config config = learner_with(with_rate(Adam::Config{}, 0.1));
  config.enable_skip_step_on_gradient_anomalies = false;
  const Learner learner(config);
  Training training(learner, {variable("w", {2})}, {{"w", f32({1, 1}, {2})}});
  training.step({{"w", f32({std::numeric_limits<double>::infinity(), 1}, {2})}});
  EXPECT_TRUE(std::isnan(training.weight("w")[0]));
}

}  // namespace
}  // namespace pax
