#include "pax/layers/stochastics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

const HostArray kKey = HostArray::of<uint32_t>({1, 2}, {2});

HostArray ones(Shape shape) {
  HostArray array({DType::kF32, std::move(shape)});
  std::ranges::fill(array.mutable_values<float>(), 1.0F);
  return array;
}

HostArray dropped(const Dropout::Config& config, Shape shape, int calls = 1) {
  TracedLayer traced;
  traced.trace.random_key = traced.input("key", {DType::kU32, {2}});
  const auto layer = traced.build(Tpl<Layer>(config));
  Tensor y = traced.input("x", {DType::kF32, shape});
  for (int i = 0; i < calls; ++i) y = layer->fprop(y);
  return run(traced, y, {{"x", ones(shape)}, {"key", kKey}});
}

Dropout::Config keeping(double keep_prob) {
  Dropout::Config config;
  config.keep_prob = keep_prob;
  return config;
}

TEST(Dropout, KeepsItsShareAndTheMean) {
  const std::vector<double> y = dropped(keeping(0.8), {10'000}).to_doubles();
  const auto kept = std::ranges::count_if(y, [](double v) { return v != 0; });
  EXPECT_NEAR(static_cast<double>(kept), 8000, 200);
  EXPECT_NEAR(*std::ranges::max_element(y), 1.25, 1e-6);
}

TEST(Dropout, DrawsAnewAtEachCall) {
  const std::vector<double> y = dropped(keeping(0.5), {10'000}, 2).to_doubles();
  EXPECT_NEAR(static_cast<double>(std::ranges::count_if(y, [](double v) { return v != 0; })), 2500, 200);
}

TEST(Dropout, OneDrawCountsAlongBroadcastDimensions) {
  Dropout::Config config = keeping(0.5);
  config.noise_shape_broadcast_dims = {-1};
  const std::vector<double> y = dropped(config, {50, 4}).to_doubles();
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], y[i / 4 * 4]);
}

TEST(Dropout, DoesNothingInEvaluation) {
  EXPECT_THAT(forward(keeping(0.1), {}, f32({3}, {1}), ModelTrace::Mode::kEval), near({3}));
}

TEST(Dropout, RefusesToKeepNothing) {
  EXPECT_THAT([] { TracedLayer().build(Tpl<Layer>(keeping(0))); }, throws<ConfigError>("layer", "keep_prob is 0"));
}

TEST(StochasticResidual, DropsWholeRows) {
  StochasticResidual::Config config;
  config.survival_prob = 0.5;
  config.residual_weight = 3;
  TracedLayer traced;
  traced.trace.random_key = traced.input("key", {DType::kU32, {2}});
  const auto layer = traced.build(Tpl<StochasticResidual>(config));
  const Tensor x = traced.input("x", {DType::kF32, {100, 2}});
  const std::vector<double> y = run(traced, layer->fprop(x, x), {{"x", ones({100, 2})}, {"key", kKey}}).to_doubles();
  for (size_t row = 0; row < 100; ++row) {
    EXPECT_EQ(y[2 * row], y[2 * row + 1]);
    EXPECT_TRUE(y[2 * row] == 1 || y[2 * row] == 7);
  }
}

TEST(Dropout, NamesItselfWhenTheProgramHasNoKey) {
  EXPECT_THAT([] { forward(keeping(0.5), {}, f32({3}, {1})); }, throws<ShapeError>("layer", "random numbers"));
}

}  // namespace
}  // namespace pax
