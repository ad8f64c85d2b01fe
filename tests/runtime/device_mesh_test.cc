#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "pax/runtime/device_array.h"
#include "tests/runtime/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const DeviceMesh> two_by_two() {
  return std::make_shared<const DeviceMesh>(default_client(4), Mesh{{"data", "mdl"}, {2, 2}});
}

/// 0, 1, 2, … in `shape`.
HostArray counting(Shape shape) {
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  std::iota(values.begin(), values.end(), 0.0f);
  return HostArray::of(std::span<const float>(values), std::move(shape));
}

TEST(DeviceMesh, NamesBothNumbersWhenDevicesAreTooFew) {
  EXPECT_THAT(error_of([] {
                DeviceMesh(default_client(4), Mesh{{"data", "mdl"}, {4, 2}});
              }),
              AllOf(HasSubstr("needs 8 devices"), HasSubstr("has 4")));
}

TEST(DeviceMesh, NamesBothNumbersWhenADimensionDoesNotDivide) {
  EXPECT_THAT(error_of([] {
                two_by_two()->part({3, 4}, Sharding{{{"data"}, {}}}, 0);
              }),
              AllOf(HasSubstr("[3,4]"), HasSubstr("dimension 0 of size 3"), HasSubstr("the 2 devices of data")));
}

TEST(DeviceMesh, NamesAnAxisThatIsNotThere) {
  EXPECT_THAT(error_of([] { two_by_two()->part({4}, Sharding{{{"batch"}}}, 0); }),
              AllOf(HasSubstr("no axis \"batch\""), HasSubstr("data, mdl")));
}

TEST(DeviceArray, SplitsEachDimensionOverItsAxis) {
  const DeviceArray array = DeviceArray::put(two_by_two(), counting({2, 4}), {{{"data"}, {"mdl"}}});
  EXPECT_THAT(array.shards()[0].to_host().values<float>(), ElementsAre(0, 1));
  EXPECT_THAT(array.shards()[1].to_host().values<float>(), ElementsAre(2, 3));
  EXPECT_THAT(array.shards()[2].to_host().values<float>(), ElementsAre(4, 5));
  EXPECT_THAT(array.shards()[3].to_host().values<float>(), ElementsAre(6, 7));
}

TEST(DeviceArray, SplitsOneDimensionOverTwoAxesOutermostFirst) {
  const DeviceArray array = DeviceArray::put(two_by_two(), counting({4}), {{{"mdl", "data"}}});
  EXPECT_EQ(array.shards()[1].to_host().item(), 2);  // data 0, mdl 1
  EXPECT_EQ(array.shards()[2].to_host().item(), 1);  // data 1, mdl 0
}

TEST(DeviceArray, CopiesWhatIsNotSplit) {
  const DeviceArray array = DeviceArray::put(two_by_two(), counting({2, 2}), {{{}, {"data"}}});
  EXPECT_THAT(array.shards()[0].to_host().values<float>(), ElementsAre(0, 2));
  EXPECT_THAT(array.shards()[1].to_host().values<float>(), ElementsAre(0, 2));
}

/// Every sharding of a rank-three array over both axes comes back as it went.
class RoundTrip : public ::testing::TestWithParam<Sharding> {};

TEST_P(RoundTrip, BringsBackWhatWasSent) {
  const HostArray array = counting({4, 2, 8});
  const HostArray back = DeviceArray::put(two_by_two(), array, GetParam()).to_host();
  EXPECT_EQ(back.to_doubles(), array.to_doubles());
}

INSTANTIATE_TEST_SUITE_P(Shardings, RoundTrip,
                         ::testing::Values(Sharding{}, Sharding{{{"data"}}}, Sharding{{{}, {"mdl"}}},
                                           Sharding{{{}, {}, {"data"}}}, Sharding{{{"data"}, {}, {"mdl"}}},
                                           Sharding{{{"mdl"}, {"data"}}}, Sharding{{{}, {}, {"mdl", "data"}}},
                                           Sharding{{{"data", "mdl"}}}));

TEST(DeviceArray, CarriesScalarsAndEmptyArrays) {
  EXPECT_EQ(DeviceArray::put(two_by_two(), HostArray::scalar(3.0f)).to_host().item(), 3);
  const HostArray empty(TensorType{DType::kF32, {4, 0}});
  EXPECT_EQ(DeviceArray::put(two_by_two(), empty, {{{"data"}}}).to_host().shape(), (Shape{4, 0}));
}

}  // namespace
}  // namespace pax
