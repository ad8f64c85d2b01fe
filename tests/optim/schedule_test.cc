#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "pax/base/error.h"
#include "pax/optim/ramp_schedules.h"
#include "pax/optim/schedules.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The schedule's values at `counts`.
template <class C>
std::vector<double> values(const C& config, std::initializer_list<int64_t> counts) {
  const typename C::Product schedule(config);
  std::vector<double> out;
  for (const int64_t count : counts) out.push_back(schedule.value_at(count));
  return out;
}

auto near(double value) { return DoubleNear(value, 1e-6 * (1 + std::abs(value))); }

template <class C>
std::string error_of(const C& config) {
  try {
    const typename C::Product schedule(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "(no error)";
}

template <class C>
C ramp(int64_t warmup, int64_t start, int64_t end, double max, double min_ratio) {
  C config;
  config.warmup_steps = warmup;
  config.decay_start = start;
  config.decay_end = end;
  config.max = max;
  config.min_ratio = min_ratio;
  return config;
}

TEST(ConstantSchedule, StaysWhereItIs) {
  EXPECT_THAT(values(ConstantSchedule::Config{.value = 0.25}, {0, 1, 1'000'000}),
              ElementsAre(near(0.25), near(0.25), near(0.25)));
}

TEST(PolynomialSchedule, IsConstantOutsideItsEnds) {
  EXPECT_THAT(
      values(PolynomialSchedule::Config{.power = 2, .start = {10, 1.0}, .limit = {20, 3.0}}, {0, 10, 15, 20, 99}),
      ElementsAre(near(1), near(1), near(1.5), near(3), near(3)));
}

TEST(PolynomialSchedule, IsFlatAtTheEndItIsTold) {
  EXPECT_THAT(
      values(PolynomialSchedule::Config{.power = 2, .start = {10, 1.0}, .limit = {20, 3.0}, .origin = "limit"}, {15}),
      ElementsAre(near(2.5)));
}

TEST(PolynomialSchedule, NamesBothUpdatesWhenTheyAreNotInOrder) {
  EXPECT_THAT(error_of(PolynomialSchedule::Config{.start = {5, 1.0}, .limit = {5, 2.0}}),
              AllOf(HasSubstr("limit"), HasSubstr("5")));
  EXPECT_THAT(error_of(PolynomialSchedule::Config{.origin = "middle"}), HasSubstr("middle"));
}

TEST(ExponentialSchedule, FallsByEqualFactors) {
  EXPECT_THAT(values(ExponentialSchedule::Config{.start = {0, 1.0}, .limit = {4, 0.0625}}, {0, 1, 2, 3, 4}),
              ElementsAre(near(1), near(0.5), near(0.25), near(0.125), near(0.0625)));
}

TEST(CosineSchedule, IsHalfwayInTheMiddle) {
  EXPECT_THAT(values(CosineSchedule::Config{.initial_value = 2, .final_value = 1, .total_steps = 10}, {0, 5, 10, 11}),
              ElementsAre(near(2), near(1.5), near(1), near(1)));
  EXPECT_THAT(error_of(CosineSchedule::Config{}), HasSubstr("total_steps"));
}

TEST(PiecewiseConstantSchedule, ChangesAtItsBoundaries) {
  EXPECT_THAT(
      values(PiecewiseConstantSchedule::Config{.boundaries = {3, 7}, .values = {1, 0.5, 0.1}}, {2, 3, 6, 7, 50}),
      ElementsAre(near(1), near(0.5), near(0.5), near(0.1), near(0.1)));
  EXPECT_THAT(error_of(PiecewiseConstantSchedule::Config{.boundaries = {3, 7}, .values = {1}}),
              AllOf(HasSubstr("1 values"), HasSubstr("2 boundaries")));
}

TEST(TransformerSchedule, PeaksAtTheEndOfWarmUp) {
  const std::vector<double> at =
      values(TransformerSchedule::Config{.warmup_steps = 100, .model_dim = 64}, {98, 99, 100});
  EXPECT_NEAR(at[1], 1 / std::sqrt(64.0 * 100), 1e-8);
  EXPECT_GT(at[1], at[0]);
  EXPECT_GT(at[1], at[2]);
}

TEST(SqrtDecaySchedule, IsTheInverseRootAfterItsStart) {
  EXPECT_THAT(values(SqrtDecaySchedule::Config{.decay_start = 16, .multiplier = 2}, {0, 16, 64}),
              ElementsAre(near(0.5), near(0.5), near(0.25)));
}

TEST(ContinuousSchedule, HalvesEveryHalfLife) {
  EXPECT_THAT(
      values(ContinuousSchedule::Config{.start_step = 10, .half_life_steps = 5, .min = 0.01}, {10, 15, 20, 1000}),
      ElementsAre(near(1), near(0.5), near(0.25), near(0.01)));
}

TEST(PiecewiseSchedule, CountsFromEachBoundary) {
  PiecewiseSchedule::Config config{.boundaries = {10}};
  config.schedules = {ConstantSchedule::Config{.value = 7}, LinearSchedule::Config{{.start = {0, 0}, .limit = {4, 1}}}};
  EXPECT_THAT(values(config, {9, 10, 12, 14}), ElementsAre(near(7), near(0), near(0.5), near(1)));
}

TEST(CycleSchedule, ShowsEachScheduleTheWholeCount) {
  CycleSchedule::Config config{.steps = {2, 1}};
  config.schedules = {ConstantSchedule::Config{.value = 5},
                      LinearSchedule::Config{{.start = {0, 0}, .limit = {10, 1}}}};
  EXPECT_THAT(values(config, {0, 1, 2, 3, 5}), ElementsAre(near(5), near(5), near(0.2), near(5), near(0.5)));
}

TEST(LinearRampupCosineDecay, RisesStaysAndFalls) {
  EXPECT_THAT(values(ramp<LinearRampupCosineDecay::Config>(4, 10, 20, 2, 0.1), {0, 2, 4, 9, 10, 15, 20, 30}),
              ElementsAre(near(0), near(1), near(2), near(2), near(2), near(1.1), near(0.2), near(0.2)));
}

TEST(LinearRampupCosineDecay, IsOneBeforeItsStart) {
  auto config = ramp<LinearRampupCosineDecay::Config>(4, 4, 20, 2, 0.1);
  config.start_step = 100;
  EXPECT_THAT(values(config, {0, 99, 100, 102, 104, 120}),
              ElementsAre(near(1), near(1), near(0), near(1), near(2), near(0.2)));
}

TEST(LinearRampupExponentialDecay, RisesAndFallsByEqualFactors) {
  EXPECT_THAT(values(ramp<LinearRampupExponentialDecay::Config>(5, 10, 20, 1, 0.01), {0, 5, 10, 15, 20}),
              ElementsAre(near(0), near(1), near(1), near(0.1), near(0.01)));
}

TEST(LinearRampupPolynomialDecay, NeedsNoWarmUp) {
  EXPECT_THAT(values(ramp<LinearRampupPolynomialDecay::Config>(0, 0, 10, 1, 0), {0, 5, 10}),
              ElementsAre(near(1), near(0.5), near(0)));
}

TEST(LinearRampupPiecewiseConstant, RisesToItsFirstValue) {
  EXPECT_THAT(values(LinearRampupPiecewiseConstant::Config{.boundaries = {4, 8}, .values = {1, 0.5}}, {0, 2, 4, 7, 8}),
              ElementsAre(near(0), near(0.5), near(1), near(1), near(0.5)));
}

TEST(LinearRampupSqrtDecay, PeaksAtTheEndOfWarmUp) {
  EXPECT_THAT(values(LinearRampupSqrtDecay::Config{.peak = 3, .warmup_steps = 10}, {0, 5, 10, 40}),
              ElementsAre(near(0.3), near(1.5), near(3), near(1.5)));
}

TEST(RampSchedules, NameTheFieldsThatAreOutOfOrder) {
  EXPECT_THAT(error_of(ramp<LinearRampupCosineDecay::Config>(10, 5, 20, 1, 0.1)),
              AllOf(HasSubstr("decay_start"), HasSubstr("5"), HasSubstr("10")));
  EXPECT_THAT(error_of(ramp<LinearRampupExponentialDecay::Config>(1, 5, 5, 1, 0.1)), HasSubstr("decay_end"));
  EXPECT_THAT(error_of(ramp<LinearRampupPolynomialDecay::Config>(1, 5, 9, 0, 0.1)), HasSubstr("max"));
  EXPECT_THAT(error_of(ramp<LinearRampupExponentialDecay::Config>(1, 5, 9, 1, 0)), HasSubstr("min_ratio"));
}

}  // namespace
}  // namespace pax
