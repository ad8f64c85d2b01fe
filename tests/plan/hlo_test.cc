#include "pax/plan/hlo.h"

#include <gmock/gmock.h>

#include "pax/base/error.h"
#include "tests/plan/hlo_bytes.h"

namespace pax {
namespace {

using ::testing::ElementsAre;

HloModule loop_module(const std::string& backend_config) {
  return {"hlo_with_config",
          hlo_with_config({{1, "main", {{10, "while", {}, {}, {2, 3}, "lm", backend_config}}},
                           {2, "body", {{20, "fusion", {4, 8}, {}, {}, "lm/ffn", "{\"estimated_cycles\":\"100\"}"}}},
                           {3, "condition", {{30, "constant", {}, {}, {}, "", "", {}, 13}, {31, "compare"}}}})};
}

TEST(HloModule, PutsInstructionsInTheOrderOfTheSchedule) {
  const HloModule module("hlo_with_config",
                         hlo_with_config({{1, "main", {{5, "add"}, {3, "multiply"}, {4, "negate"}}}}));
  std::vector<int64_t> ids;
  for (const HloInstruction& instruction : module.entry().instructions) ids.push_back(instruction.id);
  EXPECT_THAT(ids, ElementsAre(5, 3, 4));
}

TEST(HloModule, ReadsShapesAndNames) {
  const HloModule module = loop_module("");
  const HloInstruction& fusion = module.computation(2).instruction(20);
  EXPECT_EQ(fusion.shape.bytes(), 4 * 8 * 4);
  EXPECT_EQ(fusion.op_name, "lm/ffn");
  EXPECT_EQ(config_number(fusion.backend_config, "estimated_cycles"), 100);
}

TEST(TripCount, IsTheConstantOfTheCondition) {
  const HloModule module = loop_module("");
  EXPECT_EQ(module.trip_count(module.entry().instruction(10)), 13);
}

TEST(TripCount, IsWhatTheCompilerNotes) {
  const HloModule module = loop_module(R"({"known_trip_count":{"n":"7"}})");
  EXPECT_EQ(module.trip_count(module.entry().instruction(10)), 7);
}

TEST(HloModule, RefusesOtherFormats) { EXPECT_THROW(HloModule("mlir", "module {}"), RuntimeError); }

TEST(HloModule, RefusesDamagedBytesWithoutCrashing) {
  const std::string good = hlo_with_config({{1, "main", {{5, "add", {2, 3}, {4}, {}, "lm", "{}", {{0, 1}}}}}});
  for (size_t cut = 0; cut < good.size(); ++cut) {
    try {
      HloModule("hlo_with_config", good.substr(0, cut));
    } catch (const RuntimeError&) {
    }
  }
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x5a);
    try {
      HloModule("hlo_with_config", bad);
    } catch (const RuntimeError&) {
    }
  }
}

}  // namespace
}  // namespace pax
