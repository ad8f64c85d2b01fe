#include "pax/checkpoint/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/checkpoint/retention.h"
#include "tests/checkpoint/testing.h"

namespace pax {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CheckpointName, HasEightDigitsAndReadsBack) {
  EXPECT_EQ(checkpoint_name(100), "checkpoint_00000100");
  EXPECT_EQ(step_of_checkpoint_name("checkpoint_00000100"), 100);
  EXPECT_EQ(step_of_checkpoint_name(checkpoint_name(1234567890123)), 1234567890123);
}

TEST(CheckpointName, IsNoOtherName) {
  for (const char* name :
       {"checkpoint_100", "checkpoint_0000010x", "checkpoint_", "checkpoint_-0000001", "00000100",
        "checkpoint_00000100.orbax-checkpoint-tmp-1", "checkpoint_00000000100", "checkpoint_99999999999999999999"}) {
    EXPECT_FALSE(step_of_checkpoint_name(name)) << name;
  }
}

TEST(TemporaryName, IsThatOfACheckpointOnly) {
  EXPECT_TRUE(is_temporary_name("checkpoint_00000100.orbax-checkpoint-tmp-1"));
  EXPECT_FALSE(is_temporary_name("checkpoint_00000100"));
  EXPECT_FALSE(is_temporary_name("notes.orbax-checkpoint-tmp-1"));
}

TEST(ArrayFolderName, JoinsThePartsByDots) { EXPECT_EQ(array_folder_name("mdl_vars/params/w"), "mdl_vars.params.w"); }

TEST(Duration, HasAUnit) {
  EXPECT_EQ(parse_duration("12h"), 43200);
  EXPECT_EQ(parse_duration("0.5d"), 43200);
  EXPECT_EQ(parse_duration("90m"), 5400);
  EXPECT_EQ(parse_duration("7s"), 7);
  for (const char* text : {"", "12", "h", "12 h", "-1h", "1x", "nanh"}) EXPECT_FALSE(parse_duration(text)) << text;
}

/// Checkpoints one hour apart.
std::vector<CheckpointEntry> hourly(int count) {
  std::vector<CheckpointEntry> entries;
  for (int i = 0; i < count; ++i) entries.push_back({.step = i, .path = {}, .commit_time = 3600.0 * i, .problem = {}});
  return entries;
}

TEST(Retention, KeepsTheNewest) {
  EXPECT_THAT(steps_to_remove(hourly(5), 2, std::nullopt), ElementsAre(0, 1, 2));
  EXPECT_THAT(steps_to_remove(hourly(2), 2, std::nullopt), IsEmpty());
  EXPECT_THAT(steps_to_remove(hourly(5), 0, std::nullopt), IsEmpty());
}

TEST(Retention, KeepsTheOldestAndOneInEachInterval) {
  EXPECT_THAT(steps_to_remove(hourly(8), 1, 3 * 3600.0), ElementsAre(1, 2, 4, 5));
}

}  // namespace
}  // namespace pax
