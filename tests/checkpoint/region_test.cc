#include "pax/checkpoint/region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/array/host_array.h"

namespace pax {
namespace {

using ::testing::ElementsAre;

TEST(Region, SharesABox) {
  EXPECT_EQ(intersection({{0, 2}, {4, 4}}, {{1, 0}, {9, 3}}), (Region{{1, 2}, {3, 1}}));
  EXPECT_EQ(intersection({{0}, {2}}, {{5}, {2}}).num_elements(), 0);
}

TEST(Region, IsContiguousWhenOnlyOuterDimensionsAreCut) {
  const Shape shape{4, 3, 2};
  EXPECT_TRUE(is_contiguous(whole(shape), shape));
  EXPECT_TRUE(is_contiguous({{1, 0, 0}, {2, 3, 2}}, shape));
  EXPECT_TRUE(is_contiguous({{1, 1, 0}, {1, 2, 2}}, shape));
  EXPECT_TRUE(is_contiguous({{1, 1, 1}, {1, 1, 1}}, shape));
  EXPECT_FALSE(is_contiguous({{1, 1, 0}, {2, 2, 2}}, shape));
  EXPECT_FALSE(is_contiguous({{0, 0, 0}, {4, 3, 1}}, shape));
  EXPECT_TRUE(is_contiguous(whole(Shape{}), Shape{}));
}

TEST(CopyRegion, MovesABoxBetweenArrays) {
  const HostArray from = HostArray::of<int32_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 2, 3});
  HostArray to(TensorType{DType::kS32, {3, 4}});
  copy_region({from.bytes(), {2, 2, 3}, {0, 1, 1}}, {to.mutable_bytes(), {2, 2, 3}, {0, 0, 0}},
              std::vector<int64_t>{2, 1, 2}, 4);
  EXPECT_THAT(to.values<int32_t>(), ElementsAre(4, 5, 0, 0, 0, 0, 10, 11, 0, 0, 0, 0));
}

TEST(CopyRegion, MovesAScalar) {
  const HostArray from = HostArray::scalar(7);
  HostArray to = HostArray::scalar(0);
  copy_region({from.bytes(), {}, {}}, {to.mutable_bytes(), {}, {}}, {}, 4);
  EXPECT_EQ(to.item(), 7);
}

}  // namespace
}  // namespace pax
