#include "pax/data/permutation.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace pax::data {
namespace {

std::vector<int64_t> order_of(int64_t size, uint64_t key) {
  const Permutation permutation(size, key);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < size; ++i) order.push_back(permutation(i));
  return order;
}

TEST(Permutation, VisitsEveryElementOnce) {
  for (const int64_t size : {1, 2, 3, 5, 16, 17, 64, 1000, 4097}) {
    const std::vector<int64_t> order = order_of(size, 7);
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), static_cast<size_t>(size));
    for (const int64_t element : order) EXPECT_TRUE(element >= 0 && element < size);
  }
}

TEST(Permutation, DependsOnTheKey) { EXPECT_NE(order_of(100, 1), order_of(100, 2)); }

TEST(Permutation, LeavesFewElementsInPlace) {
  const std::vector<int64_t> order = order_of(10000, 3);
  int64_t fixed = 0;
  for (int64_t i = 0; i < 10000; ++i) fixed += order[static_cast<size_t>(i)] == i ? 1 : 0;
  EXPECT_LT(fixed, 12);
}

TEST(Permutation, SpreadsNeighbours) {
  const std::vector<int64_t> order = order_of(1 << 16, 5);
  double mean_step = 0;
  for (size_t i = 1; i < order.size(); ++i) mean_step += std::abs(static_cast<double>(order[i] - order[i - 1]));
  EXPECT_NEAR(mean_step / static_cast<double>(order.size()), (1 << 16) / 3.0, 1000.0);
}

TEST(Permutation, HandlesSizesBeyondMemory) {
  const Permutation permutation(int64_t{1} << 60, 1);
  EXPECT_NE(permutation(123456789), permutation(123456790));
}

TEST(EpochOrder, EachEpochIsAnotherOrderOfAllRecords) {
  const EpochOrder order(50, 9, EpochOrder::Mode::kShuffled);
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < 50; ++i) {
    first.push_back(order(i));
    second.push_back(order(50 + i));
  }
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<int64_t>(second.begin(), second.end()).size(), 50U);
}

TEST(EpochOrder, SequentialCountsUpInEachEpoch) {
  const EpochOrder order(3, 9, EpochOrder::Mode::kSequential);
  EXPECT_EQ(order(2), 2);
  EXPECT_EQ(order(3), 0);
}

}  // namespace
}  // namespace pax::data
