#include "pax/checkpoint/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/checkpoint/layout.h"
#include "tests/checkpoint/same_state.h"
#include "tests/checkpoint/testing.h"

namespace pax {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::sample;

class Compare : public ::testing::Test {
 protected:
  std::filesystem::path write(const Checkpoint& checkpoint) {
    testing::QuickDisk disk;
    write_checkpoint(disk, folder_.path(), checkpoint);
    return folder_.path() / checkpoint_name(checkpoint.step);
  }
  TempDirectory folder_;
};

TEST_F(Compare, FindsNothingBetweenEqualStates) {
  const CheckpointReader reader(write(sample(1)));
  EXPECT_THAT(compare(reader, reader), IsEmpty());
}

TEST_F(Compare, SaysHowFarValuesAreApart) {
  Checkpoint other = sample(1);
  other.step = 2;
  other.state["mdl_vars/params/lm/w"] = HostArray::of<float>({1, 2, 3.5f, 4, 5, 4}, {2, 3});
  const auto differences = compare(CheckpointReader(write(sample(1))), CheckpointReader(write(other)));
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].name, "mdl_vars/params/lm/w");
  EXPECT_EQ(differences[0].different_elements, 2);
  EXPECT_EQ(differences[0].max_difference, 2);
}

TEST_F(Compare, NamesArraysOfOneSideAndOfOtherShape) {
  Checkpoint other = sample(2);
  other.state.erase("mdl_vars/params/lm/w");
  other.state["mdl_vars/params/lm/scale"] = HostArray::of<float>({1}, {1});
  other.state["new"] = HostArray::scalar(1.0f);
  std::vector<std::string> names;
  for (const auto& difference : compare(CheckpointReader(write(sample(1))), CheckpointReader(write(other)))) {
    names.push_back(difference.name);
  }
  EXPECT_THAT(names,
              ElementsAre("mdl_vars/params/lm/scale", "mdl_vars/params/lm/w", "new", "opt_states_0/0/m", "step"));
}

TEST_F(Compare, NormIsEuclidean) { EXPECT_EQ(norm(HostArray::of<float>({3, 4}, {2})), 5); }

TEST_F(Compare, AverageIsTheMeanOfFloatsAndTheLastOfTheRest) {
  const std::filesystem::path paths[] = {write(sample(1)), write(sample(4))};
  const Checkpoint mean = average(paths);
  EXPECT_EQ(mean.step, 4);
  EXPECT_EQ(mean.state.at("step").item(), 4);
  EXPECT_THAT(mean.state.at("mdl_vars/params/lm/w").values<float>(), ElementsAre(2.5, 3.5, 4.5, 5.5, 6.5, 7.5));
  EXPECT_EQ(mean.items, sample(4).items);
}

TEST_F(Compare, AverageRefusesTwoModels) {
  Checkpoint other = sample(2);
  other.state.erase("mdl_vars/params/lm/w");
  const std::filesystem::path paths[] = {write(sample(1)), write(other)};
  EXPECT_THAT(error_of([&] { average(paths); }), HasSubstr("average checkpoints of one model"));
}

}  // namespace
}  // namespace pax
