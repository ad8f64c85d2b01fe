#include "pax/layers/activations.h"

#include <gtest/gtest.h>

#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

const HostArray kPoints = f32({-2, 0, 1, 7}, {4});

TEST(Activations, ReluCutsOffNegativeValues) { EXPECT_THAT(forward(ReLU::Config{}, {}, kPoints), near({0, 0, 1, 7})); }

TEST(Activations, Relu6StopsAtSix) { EXPECT_THAT(forward(ReLU6::Config{}, {}, kPoints), near({0, 0, 1, 6})); }

TEST(Activations, SquaredAndCubedReluRaiseRelu) {
  EXPECT_THAT(forward(SquaredReLU::Config{}, {}, kPoints), near({0, 0, 1, 49}));
  EXPECT_THAT(forward(CubedReLU::Config{}, {}, kPoints), near({0, 0, 1, 343}));
}

TEST(Activations, SineReluIsTheSineOfRelu) {
  EXPECT_THAT(forward(SineReLU::Config{}, {}, kPoints), near({0, 0, 0.84147098, 0.65698660}));
}

TEST(Activations, LeakyReluHasItsSlopeBelowZero) {
  LeakyReLU::Config config;
  config.negative_slope = 0.25;
  EXPECT_THAT(forward(config, {}, kPoints), near({-0.5, 0, 1, 7}));
}

TEST(Activations, EluTendsToMinusOne) {
  EXPECT_THAT(forward(ELU::Config{}, {}, kPoints), near({-0.86466472, 0, 1, 7}));
}

TEST(Activations, GeluIsByTanhUnlessToldOtherwise) {
  GELU::Config exact;
  exact.approximate = false;
  EXPECT_THAT(forward(GELU::Config{}, {}, kPoints), near({-0.04540231, 0, 0.84119199, 7}));
  EXPECT_THAT(forward(exact, {}, kPoints), near({-0.04550026, 0, 0.84134475, 7}));
}

TEST(Activations, SiluAndSwishAreTheSame) {
  EXPECT_THAT(forward(SiLU::Config{}, {}, kPoints), near({-0.23840584, 0, 0.73105858, 6.99361935}));
  EXPECT_THAT(forward(Swish::Config{}, {}, kPoints), near({-0.23840584, 0, 0.73105858, 6.99361935}));
}

TEST(Activations, SmoothOnesFollowTheirFormulas) {
  EXPECT_THAT(forward(Sigmoid::Config{}, {}, kPoints), near({0.11920292, 0.5, 0.73105858, 0.99908895}));
  EXPECT_THAT(forward(Tanh::Config{}, {}, kPoints), near({-0.96402758, 0, 0.76159416, 0.99999834}));
  EXPECT_THAT(forward(Softplus::Config{}, {}, kPoints), near({0.12692801, 0.69314718, 1.31326169, 7.00091147}));
  EXPECT_THAT(forward(Exp::Config{}, {}, kPoints), near({0.13533528, 1, 2.71828183, 1096.63316}, 1e-3));
  EXPECT_THAT(forward(Identity::Config{}, {}, kPoints), near({-2, 0, 1, 7}));
}

TEST(Activations, SigmoidRefusesIntegers) {
  EXPECT_THAT([] { forward(Sigmoid::Config{}, {}, s32({1}, {1})); }, throws<ShapeError>("layer", "logistic", "i32"));
}

}  // namespace
}  // namespace pax
