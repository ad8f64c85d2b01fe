#include "pax/layers/linears.h"

#include <gtest/gtest.h>

#include "pax/layers/einsum.h"
#include "pax/layers/stacking_over_time.h"
#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

Linear::Config linear(int64_t in, int64_t out) {
  Linear::Config config;
  config.input_dims = in;
  config.output_dims = out;
  return config;
}

TEST(Linear, MultipliesTheLastAxisByTheWeight) {
  const HostArray y = forward(linear(2, 3), {{"w", f32({1, 2, 3, 10, 20, 30}, {2, 3})}}, f32({1, 1, 0, 2}, {1, 2, 2}));
  EXPECT_THAT(y, near({11, 22, 33, 20, 40, 60}));
}

TEST(Linear, NamesPathAndBothSizesWhenTheInputDoesNotFit) {
  EXPECT_THAT(
      [] {
        forward(linear(768, 4), {}, HostArray({DType::kF32, {2, 512}}));
      },
      throws<ShapeError>("layer", "512", "768"));
}

TEST(FeedForward, AddsTheBiasBeforeTheActivation) {
  FeedForward::Config config;
  config.input_dims = 1;
  config.output_dims = 2;
  const HostArray y =
      forward(config, {{"linear/w", f32({1, 1}, {1, 2})}, {"bias/b", f32({-2, 1}, {2})}}, f32({1}, {1, 1}));
  EXPECT_THAT(y, near({0, 2}));
}

TEST(FeedForward, PutsTheOutputsLastSplitOnTheBias) {
  FeedForward::Config config;
  config.input_dims = 4;
  config.output_dims = 8;
  config.weight_split_dims_mapping["wt"] = std::vector<DimSplit>{"data", "mdl"};
  config.activation_split_dims_mapping["out"] = std::vector<DimSplit>{"data", std::nullopt, "mdl"};
  TracedLayer traced;
  traced.build(Tpl<Layer>(config));
  EXPECT_EQ(traced.trace.find("params/layer/bias/b")->spec.split, (std::vector<std::vector<std::string>>{{"mdl"}}));
  EXPECT_EQ(traced.trace.find("params/layer/linear/w")->spec.split,
            (std::vector<std::vector<std::string>>{{"data"}, {"mdl"}}));
}

TEST(MLPBlock, TakesTheTemplatesWidthsAtItsEndsAndItsOwnBetween) {
  MLPBlock::Config config;
  FeedForward::Config layer;
  layer.input_dims = 3;
  layer.output_dims = 2;
  config.num_layers = 3;
  config.hidden_dims = 5;
  config.ff_tpl = layer;
  TracedLayer traced;
  traced.build(Tpl<Layer>(config));
  EXPECT_EQ(traced.trace.find("params/layer/mlp_layers_0/linear/w")->spec.shape, Shape({3, 5}));
  EXPECT_EQ(traced.trace.find("params/layer/mlp_layers_1/linear/w")->spec.shape, Shape({5, 5}));
  EXPECT_EQ(traced.trace.find("params/layer/mlp_layers_2/linear/w")->spec.shape, Shape({5, 2}));
}

TEST(MLPBlock, RefusesToHaveNoLayer) {
  MLPBlock::Config config;
  config.num_layers = 0;
  EXPECT_THAT([&] { TracedLayer().build(Tpl<Layer>(config)); }, throws<ConfigError>("layer", "num_layers is 0"));
}

TEST(Einsum, TakesFansAndBiasFromTheEquation) {
  Einsum::Config config;
  config.eqn = "...D,DNH->...NH";
  config.w_shape = {5, 2, 3};
  config.use_bias = true;
  TracedLayer traced;
  traced.build(Tpl<Layer>(config));
  const ParamSpec& w = traced.trace.find("params/layer/w")->spec;
  EXPECT_EQ(w.fan_in_axes, (std::vector<int64_t>{0}));
  EXPECT_EQ(w.fan_out_axes, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(traced.trace.find("params/layer/b")->spec.shape, Shape({2, 3}));
}

TEST(Einsum, NeedsALetterForEachDimensionOfTheWeight) {
  Einsum::Config config;
  config.eqn = "...D,DF->...F";
  config.w_shape = {5, 2, 3};
  EXPECT_THAT([&] { TracedLayer().build(Tpl<Layer>(config)); }, throws<ConfigError>("layer", "...D,DF->...F", "3"));
}

StackingOverTime::Config stacking(int64_t left, int64_t right, int64_t stride) {
  StackingOverTime::Config config;
  config.left_context = left;
  config.right_context = right;
  config.stride = stride;
  return config;
}

TEST(StackingOverTime, PutsWindowsSideBySideEveryStride) {
  const HostArray y = forward(stacking(1, 1, 3), {}, f32({4, 1, 9, 3, 5, 2, 8}, {1, 7, 1}));
  EXPECT_EQ(y.shape(), Shape({1, 3, 3}));
  EXPECT_THAT(y, near({0, 4, 1, 9, 3, 5, 2, 8, 0}));
}

TEST(StackingOverTime, UnstacksToTheInputsOrder) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<StackingOverTime>(stacking(2, 1, 4)));
  const Tensor x = traced.input("x", {DType::kF32, {1, 8, 1}});
  const HostArray y = run(traced, layer->unstack(layer->fprop(x)), {{"x", f32({1, 2, 3, 4, 5, 6, 7, 8}, {1, 8, 1})}});
  EXPECT_THAT(y, near({1, 2, 3, 4, 5, 6}));
}

TEST(StackingOverTime, CannotUnstackWhatWindowsLeftOut) {
  TracedLayer traced;
  const auto layer = traced.build(Tpl<StackingOverTime>(stacking(0, 1, 4)));
  EXPECT_THAT(
      [&] {
        layer->unstack(traced.input("x", {DType::kF32, {1, 3, 2}}));
      },
      throws<ShapeError>("layer", "stride 4", "windows of 2"));
}

}  // namespace
}  // namespace pax
