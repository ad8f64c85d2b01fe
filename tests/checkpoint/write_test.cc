#include "pax/checkpoint/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/digest.h"
#include "pax/checkpoint/layout.h"
#include "pax/checkpoint/reader.h"
#include "tests/checkpoint/same_state.h"
#include "tests/checkpoint/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::same_state;
using testing::sample;

Checkpoint read_back(const std::filesystem::path& path) {
  const CheckpointReader reader(path);
  return {.step = reader.step(), .state = reader.read_all(), .items = reader.items()};
}

class Write : public ::testing::Test {
 protected:
  std::filesystem::path write(const Checkpoint& checkpoint) {
    Disk disk;
    write_checkpoint(disk, folder_.path(), checkpoint);
    return folder_.path() / checkpoint_name(checkpoint.step);
  }

  TempDirectory folder_;
};

TEST_F(Write, ReadsBackToTheBit) { EXPECT_TRUE(same_state(read_back(write(sample(7))), sample(7))); }

TEST_F(Write, KeepsEveryElementTypeAndEmptyArrays) {
  Checkpoint checkpoint{.step = 1};
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    const auto dtype = static_cast<DType>(i);
    HostArray array(TensorType{dtype, {2, 2}});
    for (std::byte& byte : array.mutable_bytes()) byte = std::byte{1};
    checkpoint.state["all/" + std::string(dtype_name(dtype))] = array;
  }
  checkpoint.state["none"] = HostArray(TensorType{DType::kF32, {3, 0}});
  EXPECT_TRUE(same_state(read_back(write(checkpoint)), checkpoint));
}

TEST_F(Write, SplitsLargeArraysIntoBlocks) {
  Checkpoint checkpoint{.step = 1};
  const int64_t rows = static_cast<int64_t>(kChecksumBlock / 4000) + 3;
  HostArray array(TensorType{DType::kS32, {rows, 1000}});
  for (size_t i = 0; auto& value : array.mutable_values<int32_t>()) value = static_cast<int32_t>(i++);
  checkpoint.state["w"] = array;
  const auto path = write(checkpoint);
  EXPECT_EQ(read_committed(path)->files.at("state/w/0.0").crc32c.size(), 2u);
  EXPECT_TRUE(same_state(read_back(path), checkpoint));

  const HostArray part = CheckpointReader(path).read("w", {.begin = {rows - 2, 998}, .size = {2, 2}});
  const int32_t last = static_cast<int32_t>(rows * 1000 - 1);
  EXPECT_THAT(part.values<int32_t>(), ElementsAre(last - 1001, last - 1000, last - 1, last));
}

TEST_F(Write, HoldsArraysInPiecesWhenAsked) {
  Checkpoint checkpoint = sample(7);
  checkpoint.pieces = {{"mdl_vars/params/lm/w", {1, 2}}};
  const auto path = write(checkpoint);
  EXPECT_TRUE(same_state(read_back(path), sample(7)));
  // A host that needs the left column reads neither piece on the right.
  std::filesystem::remove(path / "state/mdl_vars.params.lm.w/0.1");
  std::filesystem::remove(path / "state/mdl_vars.params.lm.w/1.1");
  EXPECT_THAT(CheckpointReader(path).read("mdl_vars/params/lm/w", {{0, 0}, {2, 1}}).values<float>(),
              ElementsAre(7, 10));
}

TEST_F(Write, RefusesPiecesOfAnotherRank) {
  Checkpoint checkpoint = sample(7);
  checkpoint.pieces = {{"mdl_vars/params/lm/w", {2}}};
  EXPECT_THAT(error_of([&] { write(checkpoint); }), HasSubstr("[2,3] cannot be held in pieces of [2]"));
}

TEST_F(Write, ReplacesACheckpointOfTheSameStep) {
  write(sample(7));
  Checkpoint other = sample(7);
  other.items["train_input/process_0-of-1"] = "another";
  EXPECT_TRUE(same_state(read_back(write(other)), other));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(Write, RefusesNamesThatFoldersCannotHave) {
  const auto error = [&](const std::string& name) {
    Checkpoint checkpoint{.step = 1};
    checkpoint.state[name] = HostArray::scalar(1.0f);
    return error_of([&] { write(checkpoint); });
  };
  for (const std::string name : {"../x", "a//b", "a/./b", "a.b", "it's", "/etc", ""}) {
    EXPECT_THAT(error(name), HasSubstr("cannot be saved under this name")) << name;
  }
  EXPECT_THAT(error(std::string(300, 'x')), HasSubstr("the name has 300 bytes"));
}

TEST_F(Write, RefusesItemsOutsideTheCheckpoint) {
  for (const std::string name : {"../x", "/x", "state/x", "metadata", "commit_success.txt", ""}) {
    Checkpoint checkpoint = sample(1);
    checkpoint.items[name] = "";
    EXPECT_THAT(error_of([&] { write(checkpoint); }), HasSubstr("not a name that an item can have")) << name;
  }
}

TEST_F(Write, NamesTheFileThatIsTooLargeAndKeepsTheCheckpointBefore) {
  write(sample(1));
  Checkpoint large = sample(1);
  large.state["big"] = HostArray(TensorType{DType::kF32, {100000}});
  {
    const testing::FileSizeLimit limit(65536);
    EXPECT_THAT(error_of([&] { write(large); }), AllOf(HasSubstr("state/big/0"), HasSubstr("File too large")));
  }
  EXPECT_TRUE(same_state(read_back(folder_.path() / checkpoint_name(1)), sample(1)));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST(Digest, DependsOnStepNamesTypesAndValuesOnly) {
  const TempDirectory folder;
  Disk disk;
  write_checkpoint(disk, folder.path(), sample(7));
  const std::string digest = state_digest(7, sample(7).state);
  EXPECT_EQ(state_digest(CheckpointReader(folder.path() / checkpoint_name(7))), digest);
  EXPECT_NE(state_digest(8, sample(7).state), digest);
  HostTree other = sample(7).state;
  other["mdl_vars/params/lm/scale"] = HostArray::of<BFloat16>({BFloat16(1), BFloat16(8)}, {2});
  EXPECT_NE(state_digest(7, other), digest);
}

}  // namespace
}  // namespace pax
