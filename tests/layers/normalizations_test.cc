#include "pax/layers/normalizations.h"

#include <gtest/gtest.h>

#include "pax/layers/batch_norm.h"
#include "pax/layers/weight_norms.h"
#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

template <class L>
typename L::Config with_dim(int64_t dim) {
  typename L::Config config;
  config.dim = dim;
  return config;
}

TEST(LayerNorm, ScalesByOnePlusScaleUnlessDirect) {
  const HostTree weights{{"scale", f32({1, 0}, {2})}, {"bias", f32({0, 5}, {2})}};
  const HostArray x = f32({1, 3}, {1, 2});
  LayerNorm::Config direct = with_dim<LayerNorm>(2);
  direct.direct_scale = true;
  EXPECT_THAT(forward(with_dim<LayerNorm>(2), weights, x), near({-2, 6}));
  EXPECT_THAT(forward(direct, weights, x), near({-1, 5}));
}

TEST(LayerNorm, NamesPathAndBothSizesWhenTheInputDoesNotFit) {
  EXPECT_THAT(
      [] {
        forward(with_dim<LayerNorm>(6), {}, HostArray({DType::kF32, {2, 5}}));
      },
      throws<ShapeError>("layer", "[2,5]", "[6]"));
}

TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
  const HostArray y = forward(with_dim<RmsNorm>(2), {{"scale", f32({1, 2}, {2})}}, f32({1, 7}, {1, 2}));
  EXPECT_THAT(y, near({0.2, 2.8}));
}

TEST(RmsNormNoScale, HasNoWeight) {
  EXPECT_THAT(forward(with_dim<RmsNormNoScale>(2), {}, f32({1, 7}, {1, 2})), near({0.2, 1.4}));
}

TEST(IdentityNorm, ReturnsItsInput) {
  EXPECT_THAT(forward(with_dim<IdentityNorm>(1), {}, f32({3}, {1, 1})), near({3}));
}

const HostTree kBatchNormAtStart{{"beta", f32({0}, {1})},
                                 {"gamma", f32({0}, {1})},
                                 {"moving_mean", f32({10}, {1})},
                                 {"moving_variance", f32({4}, {1})}};

TEST(BatchNorm, UsesTheBatchInTrainingAndTheMovingAveragesInEvaluation) {
  const HostArray x = f32({8, 12}, {2, 1});
  const double batch = 2 / std::sqrt(4.001), moving = 2 / std::sqrt(4.001);
  EXPECT_THAT(forward(with_dim<BatchNorm>(1), kBatchNormAtStart, x), near({-batch, batch}));
  EXPECT_THAT(forward(with_dim<BatchNorm>(1), kBatchNormAtStart, f32({8, 14}, {2, 1}), ModelTrace::Mode::kEval),
              near({-moving, 2 * moving}));
}

TEST(BatchNorm, LeavesPaddingOutOfItsStatistics) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<BaseNormalization>(with_dim<BatchNorm>(1)));
  const Tensor y = layer->fprop(traced.input("x", {DType::kF32, {1, 3, 1}}), traced.input("p", {DType::kF32, {1, 3}}));
  HostTree values{{"x", f32({-1, 1, 50}, {1, 3, 1})}, {"p", f32({0, 0, 1}, {1, 3})}};
  for (const auto& [name, array] : kBatchNormAtStart) {
    values[(name.starts_with("moving") ? "non_trainable/layer/" : "params/layer/") + name] = array;
  }
  EXPECT_THAT(run(traced, y, values), near({-0.9995004, 0.9995004, 0}));
}

TEST(BatchNorm, RefusesPaddingsOfAnotherRank) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<BaseNormalization>(with_dim<BatchNorm>(1)));
  EXPECT_THAT(
      [&] {
        layer->fprop(traced.input("x", {DType::kF32, {1, 3, 1}}), traced.input("p", {DType::kF32, {3}}));
      },
      throws<ShapeError>("layer", "f32[3]", "f32[1,3,1]"));
}

GroupNorm::Config group_norm(int64_t dim, int64_t groups, int64_t rank) {
  GroupNorm::Config config = with_dim<GroupNorm>(dim);
  config.num_groups = groups;
  config.input_rank = rank;
  return config;
}

TEST(GroupNorm, NormalizesEachGroupOverAllPositions) {
  const HostTree weights{{"gamma", f32({0, 0}, {1, 1, 2})}, {"beta", f32({0, 0}, {1, 1, 2})}};
  const HostArray y = forward(group_norm(2, 2, 3), weights, f32({1, 10, 3, 30}, {1, 2, 2}));
  EXPECT_THAT(y, near({-0.9995004, -0.999995, 0.9995004, 0.999995}));
}

TEST(GroupNorm, RefusesGroupsThatDoNotDivideTheChannels) {
  EXPECT_THAT([] { TracedLayer().build(Tpl<Layer>(group_norm(6, 4, 3))); },
              throws<ConfigError>("layer", "dim 6", "4 groups"));
}

TEST(WeightNormL2, GivesEveryOutputTheLengthOnePlusG) {
  const HostArray y = forward(with_dim<WeightNormL2>(2), {{"g", f32({0, 1}, {2})}}, f32({3, 1, 4, 0}, {2, 2}));
  EXPECT_THAT(y, near({0.6, 2, 0.8, 0}));
}

TEST(SpectralNorm, DividesByTheLargestSingularValue) {
  SpectralNorm::Config config = with_dim<SpectralNorm>(2);
  config.n_power_iteration = 20;
  const HostArray y = forward(config, {{"u", f32({1, 0.5}, {2})}}, f32({4, 0, 0, 1}, {2, 2}));
  EXPECT_THAT(y, near({1, 0, 0, 0.25}));
}

}  // namespace
}  // namespace pax
