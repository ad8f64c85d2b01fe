#include "pax/plan/placement.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace pax {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

TEST(Place, PutsEveryDeviceOnce) {
  for (const auto& [name, ici, dcn] :
       {std::tuple("v4-64", std::vector<int64_t>{1, 16, 2}, std::vector<int64_t>{1, 1, 1}),
        std::tuple("v4-2048", std::vector<int64_t>{1, 64, 16}, std::vector<int64_t>{1, 1, 1}),
        std::tuple("2xv4-128", std::vector<int64_t>{1, 64, 1}, std::vector<int64_t>{2, 1, 1}),
        std::tuple("tpu7x-16", std::vector<int64_t>{2, 4, 2}, std::vector<int64_t>{1, 1, 1}),
        std::tuple("v4-8", std::vector<int64_t>{4}, std::vector<int64_t>{1})}) {
    const Machine machine = find_machine(name);
    std::vector<int64_t> all(static_cast<size_t>(machine.num_devices()));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_THAT(place(ici, dcn, machine), UnorderedElementsAreArray(all)) << name;
  }
}

TEST(Place, GivesTheLastAxisAWholeRing) {
  // 8x8x16: 16 along mdl is the third dimension, whose devices are 64 apart.
  const auto devices = place({1, 64, 16}, {1, 1, 1}, find_machine("v4-2048"));
  EXPECT_EQ(devices[1] - devices[0], 64);
  EXPECT_EQ(devices[16] - devices[0], 1);
}

TEST(Place, KeepsASliceTogether) {
  const Machine machine = find_machine("2xv5e-4");
  // data 4 within slices and 2 slices: positions 0-3 are slice 0.
  EXPECT_THAT(place({4}, {2}, machine), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const auto inner = place({1, 4}, {2, 1}, machine);
  EXPECT_LT(*std::max_element(inner.begin(), inner.begin() + 4), 4);
}

TEST(GroupBandwidth, IsOfTheDimensionsThatAGroupRunsAlong) {
  const Machine pod = find_machine("v4-1024");  // 8x8x8, all rings
  const double one = group_bandwidth(pod, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_NEAR(one, 90e9, 1);
  EXPECT_NEAR(group_bandwidth(pod, {0, 1, 8, 9}), 2 * one, 1);
  EXPECT_NEAR(group_bandwidth(find_machine("v4-64"), {0, 2, 4, 6}), one / 2, 1);  // 2x4x4 has no rings
}

TEST(GroupBandwidth, BetweenSlicesIsTheNetworks) {
  const Machine machine = find_machine("2xv4-8");
  EXPECT_EQ(group_bandwidth(machine, {0, 4}), machine.device.slice_bandwidth);
}

}  // namespace
}  // namespace pax
