#include "pax/plan/step_cost.h"

#include <gmock/gmock.h>

#include "tests/plan/hlo_bytes.h"

namespace pax {
namespace {

constexpr double kClock = 1.05e9;

std::string cycles(int64_t count) { return "{\"estimated_cycles\":\"" + std::to_string(count) + "\"}"; }

StepCost cost_of(const std::vector<ComputationText>& computations) {
  const Machine machine = find_machine("v4-8");
  const PlacedMesh placed{{{"data", "mdl"}, {2, 2}}, {0, 1, 2, 3}};
  return step_cost(HloModule("hlo_with_config", hlo_with_config(computations)), machine, placed);
}

TEST(StepCost, AddsCyclesAndRunsLoopsAsOftenAsTheySay) {
  const StepCost cost =
      cost_of({{1, "main", {{10, "fusion", {}, {}, {}, "lm/a", cycles(50)}, {11, "while", {}, {}, {2, 3}}}},
               {2, "body", {{20, "fusion", {}, {}, {}, "lm/b", cycles(100)}}},
               {3, "condition", {{30, "constant", {}, {}, {}, "", "", {}, 13}}}});
  EXPECT_NEAR(cost.seconds, (50 + 13 * 100) / kClock, 1e-12);
  ASSERT_EQ(cost.layers.size(), 2u);
  EXPECT_EQ(cost.layers[0].name, "lm/b");
  EXPECT_NEAR(cost.layers[0].seconds, 1300 / kClock, 1e-12);
}

TEST(StepCost, CollectivesAreExposedUnlessComputingGoesOnBesideThem) {
  // 90 MB between two chips: far longer than 1000 cycles, far shorter than 1e9.
  const std::vector<int64_t> dims{22'500'000};
  const auto gather = [&](int64_t work) {
    return cost_of({{1,
                     "main",
                     {{9, "parameter", dims},
                      {10, "all-gather-start", dims, {9}, {}, "lm/w", "", {{0, 1}, {2, 3}}},
                      {11, "fusion", {}, {}, {}, "lm/a", cycles(work)},
                      {12, "all-gather-done", dims, {10}, {}, "lm/w"}}}});
  };
  const StepCost hidden = gather(1'000'000'000), exposed = gather(1000);
  EXPECT_EQ(hidden.exposed_s, 0);
  EXPECT_NEAR(hidden.seconds, 1e9 / kClock, 1e-9);
  EXPECT_GT(exposed.exposed_s, 1e-4);
  ASSERT_EQ(exposed.collectives.size(), 1u);
  EXPECT_EQ(exposed.collectives[0].kind, "all-gather");
  EXPECT_EQ(exposed.collectives[0].axes, "mdl");
  EXPECT_EQ(exposed.collectives[0].bytes, 90'000'000);
  EXPECT_NEAR(exposed.seconds, exposed.compute_s + exposed.exposed_s, 1e-9);
}

TEST(StepCost, ASliceOfAnAllReduceInOneFusionIsAReduceScatter) {
  const StepCost cost = cost_of(
      {{1, "main", {{10, "fusion", {4}, {}, {2}, "lm/w"}}},
       {2, "all-reduce-scatter.1", {{20, "all-reduce", {8}, {}, {}, "", "", {{0, 2}, {1, 3}}}, {21, "slice"}}}});
  ASSERT_EQ(cost.collectives.size(), 1u);
  EXPECT_EQ(cost.collectives[0].kind, "reduce-scatter");
  EXPECT_EQ(cost.collectives[0].axes, "data");
}

TEST(StepCost, GpuTimeIsTheLongerOfArithmeticAndMemory) {
  const Machine machine = find_machine("h100x1");
  const HloModule module("hlo_with_config", hlo_with_config({{1, "main", {{10, "fusion", {1'000'000'000}}}}}));
  const StepCost cost = step_cost(module, machine, {{}, {0}});
  EXPECT_NEAR(cost.seconds, 4e9 / (3352e9 * 0.85), 1e-5);
}

}  // namespace
}  // namespace pax
