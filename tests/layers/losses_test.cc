#include "pax/layers/losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pax/autodiff/grad.h"
#include "pax/ops/reduce.h"
#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

/// The loss, or its gradient, of logits with probabilities 3/4 and 1/4 against the first class.
HostArray bi_tempered(BiTemperedLoss::Config config, bool gradient = false) {
  TracedLayer traced(ModelTrace::Mode::kEval);
  const auto layer = traced.build(Tpl<BiTemperedLoss>(config));
  const Tensor x = traced.input("x", {DType::kF32, {1, 2}});
  const Tensor loss = layer->fprop(x, traced.input("y", {DType::kF32, {1, 2}}));
  return run(
      traced, gradient ? grad(reduce_sum(loss), {x})[0] : loss,
      {{"x", f32({1.0986123F, 0}, {1, 2})}, {"y", f32({1, 0}, {1, 2})}, {"non_trainable/layer/count", f32({0}, {})}});
}

TEST(BiTemperedLoss, IsCrossEntropyAtTemperaturesOfOne) {
  EXPECT_THAT(bi_tempered({}), near({-std::log(0.75)}));
  EXPECT_THAT(bi_tempered({}, true), near({-0.25, 0.25}));
}

TEST(BiTemperedLoss, IsBoundedBelowTemperatureOne) {
  BiTemperedLoss::Config config;
  config.t1 = 0.5;
  // (1 - sqrt(3/4)) / 0.5 - (1 - (3/4)^1.5 - (1/4)^1.5) / 1.5
  EXPECT_THAT(bi_tempered(config), near({0.26794919 - 0.15032097}, 1e-4));
}

TEST(BiTemperedLoss, RefusesAScheduleThatRunsBackwards) {
  BiTemperedLoss::Config config;
  config.start_step = 5;
  config.end_step = 3;
  EXPECT_THAT([&] { TracedLayer().build(Tpl<BiTemperedLoss>(config)); },
              throws<ConfigError>("layer", "end_step 3", "start_step 5"));
}

}  // namespace
}  // namespace pax
