#include "pax/data/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Property;

std::vector<float> ones(size_t n) { return std::vector<float>(n, 1.0F); }

HostTree two_segments() {
  LmBatch batch(1, 6);
  batch.append(0, std::vector<int32_t>{5, 6, 7}, std::vector<int32_t>{6, 7, 1}, ones(3));
  batch.append(0, std::vector<int32_t>{8, 9}, std::vector<int32_t>{9, 1}, ones(2));
  return batch.take();
}

TEST(LmBatch, NumbersSegmentsFromOneAndRestartsPositions) {
  const HostTree batch = two_segments();
  EXPECT_THAT(batch.at("segment_ids").values<int32_t>(), ElementsAre(1, 1, 1, 2, 2, 0));
  EXPECT_THAT(batch.at("segment_pos").values<int32_t>(), ElementsAre(0, 1, 2, 0, 1, 0));
  EXPECT_THAT(batch.at("paddings").values<float>(), ElementsAre(0, 0, 0, 0, 0, 1));
  EXPECT_THAT(batch.at("weights").values<float>(), ElementsAre(1, 1, 1, 1, 1, 0));
}

TEST(LmBatch, RefusesASegmentLongerThanTheRoomLeft) {
  LmBatch batch(1, 2);
  EXPECT_THROW(batch.append(0, std::vector<int32_t>{1, 2, 3}, std::vector<int32_t>{1, 2, 3}, ones(3)), RuntimeError);
}

TEST(CountTokens, TellsRealTokensFromPadding) {
  const TokenCount count = count_tokens(two_segments());
  EXPECT_EQ(count.slots, 6);
  EXPECT_EQ(count.tokens, 5);
  EXPECT_EQ(count.weight, 5);
  EXPECT_EQ(count.segments, 2);
}

TEST(RequireSpec, NamesTheFieldAndBothTypes) {
  HostTree batch = two_segments();
  batch["ids"] = HostArray(TensorType{DType::kF32, {1, 6}});
  EXPECT_THAT([&] { require_spec(batch, lm_batch_spec(1, 6), "train"); },
              ::testing::ThrowsMessage<RuntimeError>(
                  AllOf(HasSubstr("train"), HasSubstr("\"ids\""), HasSubstr("f32[1,6]"), HasSubstr("i32[1,6]"))));
}

TEST(RequireIdsBelow, NamesRowColumnAndId) {
  LmBatch batch(2, 2);
  batch.append(1, std::vector<int32_t>{3, 300}, std::vector<int32_t>{3, 3}, ones(2));
  const HostTree tree = batch.take();
  EXPECT_THAT([&] { require_ids_below(tree, 256); },
              ::testing::ThrowsMessage<RuntimeError>(
                  AllOf(HasSubstr("row 1"), HasSubstr("column 1"), HasSubstr("300"), HasSubstr("256"))));
}

TEST(RequireIdsBelow, IgnoresLabelsOfZeroWeight) {
  LmBatch batch(1, 1);
  batch.append(0, std::vector<int32_t>{3}, std::vector<int32_t>{-1}, std::vector<float>{0.0F});
  EXPECT_NO_THROW(require_ids_below(batch.take(), 256));
}

TEST(PadRows, AddsRowsOfPadding) {
  const HostTree padded = pad_rows(two_segments(), 1);
  EXPECT_EQ(padded.at("ids").shape(), (Shape{2, 6}));
  EXPECT_EQ(count_tokens(padded).tokens, 5);
}

}  // namespace
}  // namespace pax::data
