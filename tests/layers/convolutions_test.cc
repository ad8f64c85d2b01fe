#include <gtest/gtest.h>

#include "pax/layers/convolutions/conv_bn_act.h"
#include "pax/layers/convolutions/light_conv1d.h"
#include "pax/layers/convolutions/poolings.h"
#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

/// A filter of ones, one channel, over the height.
Conv2D::Config column(int64_t height, int64_t stride = 1) {
  Conv2D::Config config;
  config.filter_shape = {height, 1, 1, 1};
  config.filter_stride = {stride, 1};
  return config;
}
const HostArray kColumn = f32({1, 2, 3, 4, 5}, {1, 5, 1, 1});
const HostTree kOnes3{{"w", f32({1, 1, 1}, {3, 1, 1, 1})}};

TEST(Conv2D, SamePaddingLooksAtTheStrideOnlyWhenTensorFlowsIsAsked) {
  EXPECT_THAT(forward(column(3), kOnes3, kColumn), near({3, 6, 9, 12, 9}));
  const HostTree ones2{{"w", f32({1, 1}, {2, 1, 1, 1})}};
  Conv2D::Config tensorflow = column(2, 2);
  tensorflow.tf_equivalent_padding = true;
  EXPECT_THAT(forward(column(2, 2), ones2, kColumn), near({3, 7, 5}));
  const HostArray even = f32({1, 2, 3, 4}, {1, 4, 1, 1});
  EXPECT_THAT(forward(column(3, 2), kOnes3, even), near({3, 9}));
  Conv2D::Config tensorflow3 = column(3, 2);
  tensorflow3.tf_equivalent_padding = true;
  EXPECT_THAT(forward(tensorflow3, kOnes3, even), near({6, 7}));
}

TEST(Conv2D, CausalOutputsSeeNothingLater) {
  Conv2D::Config config = column(3);
  config.tf_equivalent_padding = config.is_causal = true;
  EXPECT_THAT(forward(config, kOnes3, kColumn), near({1, 3, 6, 9, 12}));
}

TEST(Conv2D, RefusesCausalConvolutionWithItsOwnPadding) {
  Conv2D::Config config = column(3);
  config.is_causal = true;
  EXPECT_THAT([&] { TracedLayer().build(Tpl<Layer>(config)); },
              throws<ConfigError>("layer", "is_causal", "tf_equivalent_padding"));
}

TEST(Conv2D, NamesBothShapesWhenChannelsDoNotDivide) {
  Conv2D::Config config = column(3);
  config.filter_shape = {3, 1, 2, 4};
  EXPECT_THAT(
      [&] {
        forward(config, {}, HostArray({DType::kF32, {1, 5, 1, 3}}));
      },
      throws<ShapeError>("layer", "f32[1,5,1,3]", "f32[3,1,2,4]"));
}

TEST(Conv3D, SlidesOverTime) {
  Conv3D::Config config;
  config.filter_shape = {2, 1, 1, 1, 1};
  config.filter_stride = {1, 1, 1};
  config.padding = ConvPadding::kValid;
  EXPECT_THAT(forward(config, {{"w", f32({1, 10}, {2, 1, 1, 1, 1})}}, f32({1, 2, 3}, {1, 3, 1, 1, 1})), near({21, 32}));
}

TEST(ConvBNActWithPadding, StridedOutputsArePaddingWhereTheirFirstStepIs) {
  ConvBNActWithPadding::Config config;
  config.filter_shape = {1, 1, 1, 1};
  config.filter_stride = {2, 1};
  TracedLayer traced(ModelTrace::Mode::kEval);
  const auto layer = traced.build(Tpl<ConvBNActWithPadding>(config));
  const auto out =
      layer->fprop(traced.input("x", {DType::kF32, {1, 5, 1, 1}}), traced.input("p", {DType::kF32, {1, 5}}));
  EXPECT_THAT(run(traced, out.paddings,
                  {{"x", kColumn},
                   {"p", f32({0, 0, 0, 1, 1}, {1, 5})},
                   {"params/layer/w", f32({1}, {1, 1, 1, 1})},
                   {"params/layer/bn/gamma", f32({0}, {1})},
                   {"params/layer/bn/beta", f32({0}, {1})},
                   {"non_trainable/layer/bn/moving_mean", f32({0}, {1})},
                   {"non_trainable/layer/bn/moving_variance", f32({1}, {1})}}),
              near({0, 0, 1}));
}

TEST(DepthwiseConv1D, KeepsChannelsApart) {
  DepthwiseConv1D::Config config;
  config.filter_shape = {2, 2, 1};
  config.is_causal = true;
  const HostArray y = forward(config, {{"w", f32({1, 10, 2, 20}, {2, 1, 2})}}, f32({1, 1, 2, 2}, {1, 2, 2}));
  EXPECT_THAT(y, near({2, 20, 5, 50}));
}

TEST(LightConv1D, NeedsItsSizes) {
  EXPECT_THAT([] { TracedLayer().build(Tpl<LightConv1D>(LightConv1D::Config{})); },
              throws<ConfigError>("layer", "input_dims", "kernel_size"));
}

Pooling::Config pooling(PoolingType type) {
  Pooling::Config config;
  config.window_shape = {2, 1};
  config.window_stride = {2, 1};
  config.pooling_type = type;
  return config;
}

TEST(Pooling, PaddingOfTheEdgesCountsForNothing) {
  EXPECT_THAT(forward(pooling(PoolingType::kAvg), {}, kColumn), near({1.5, 3.5, 5}));
  EXPECT_THAT(forward(pooling(PoolingType::kMax), {}, kColumn), near({2, 4, 5}));
}

TEST(Pooling, RefusesEmptyWindows) {
  EXPECT_THAT([] { TracedLayer().build(Tpl<Layer>(Pooling::Config{})); }, throws<ConfigError>("layer", "0x0"));
}

TEST(GlobalPooling, AveragesWhatIsNoPadding) {
  GlobalPooling::Config config;
  config.pooling_dims = {1};
  TracedLayer traced;
  const auto layer = traced.build(Tpl<GlobalPooling>(config));
  const Tensor y =
      layer->pool(traced.input("x", {DType::kF32, {1, 3, 1}}), traced.input("p", {DType::kF32, {1, 3, 1}}));
  EXPECT_THAT(run(traced, y, {{"x", f32({1, 3, 50}, {1, 3, 1})}, {"p", f32({0, 0, 1}, {1, 3, 1})}}), near({2}));
}

TEST(Pooling1D, StridesPaddingsAlong) {
  Pooling1D::Config config;
  config.stride = 2;
  TracedLayer traced;
  const auto layer = traced.build(Tpl<Pooling1D>(config));
  const Pooled y = layer->pool(traced.input("x", {DType::kF32, {1, 4, 1}}), traced.input("p", {DType::kF32, {1, 4}}));
  EXPECT_THAT(run(traced, y.outputs, {{"x", f32({1, 3, 5, 50}, {1, 4, 1})}, {"p", f32({0, 0, 0, 1}, {1, 4})}}),
              near({2, 5}));
}

}  // namespace
}  // namespace pax
