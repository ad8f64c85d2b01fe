#include "pax/pjrt/buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/pjrt/cpu_plugins.h"

namespace pax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BufferTest : public CpuPluginTest {};

TEST_P(BufferTest, BringsBackWhatWasSent) {
  const HostArray array = HostArray::of({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3});
  const Buffer buffer = client()->to_device(array);
  EXPECT_EQ(buffer.type(), array.type());
  EXPECT_THAT(buffer.to_host().values<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_P(BufferTest, CarriesEveryElementType) {
  for (const DType dtype :
       {DType::kPred, DType::kS4, DType::kS8, DType::kS16, DType::kS32, DType::kS64, DType::kU4, DType::kU8,
        DType::kU16, DType::kU32, DType::kU64, DType::kBF16, DType::kF16, DType::kF32, DType::kF64}) {
    const HostArray array = from_doubles(std::vector<double>{1, 0, 1, 1}, {dtype, Shape{2, 2}});
    const HostArray back = client()->to_device(array).to_host();
    EXPECT_EQ(back.type(), array.type());
    EXPECT_EQ(back.to_doubles(), array.to_doubles()) << dtype_name(dtype);
  }
}

TEST_P(BufferTest, CarriesScalarsAndEmptyArrays) {
  EXPECT_EQ(client()->to_device(HostArray::scalar(7)).to_host().item(), 7);
  EXPECT_EQ(client()->to_device(HostArray(TensorType{DType::kF32, {0, 3}})).to_host().shape(), (Shape{0, 3}));
}

TEST_P(BufferTest, KeepsTheArrayOfAZeroCopyTransferAlive) {
  Buffer buffer;
  {
    std::vector<float> values(1 << 16, 3.0f);
    buffer = client()->to_device(HostArray::of(std::span<const float>(values), {1 << 16}), 0, HostTransfer::kZeroCopy);
  }
  EXPECT_EQ(buffer.to_host().values<float>().back(), 3.0f);
}

TEST_P(BufferTest, ZeroCopyUsesTheBytesInPlace) {
  const HostArray array(TensorType{DType::kF32, {1 << 16}});
  const Buffer buffer = client()->to_device(array, 0, HostTransfer::kZeroCopy);
  EXPECT_EQ(buffer.view_on_host().bytes().data(), array.bytes().data());
}

TEST_P(BufferTest, AViewOutlivesTheBuffer) {
  HostArray view;
  {
    const Buffer buffer = client()->to_device(HostArray::of({1.0f, 2.0f}, {2}));
    view = buffer.view_on_host();
  }
  EXPECT_THAT(view.values<float>(), ElementsAre(1, 2));
}

TEST_P(BufferTest, ACopyUnderWayOutlivesTheBuffer) {
  HostCopy copy;
  {
    const std::vector<float> values(1 << 20, 2.0f);
    copy = client()->to_device(HostArray::of(std::span<const float>(values), {1 << 20})).copy_to_host();
  }
  EXPECT_EQ(copy.wait().values<float>().back(), 2.0f);
}

TEST_P(BufferTest, IsGoneForAllHandlesOnceDeleted) {
  Buffer buffer = client()->to_device(HostArray::of({1.0f}, {1}));
  Buffer other = buffer;
  buffer.delete_now();
  EXPECT_TRUE(other.deleted());
  EXPECT_THROW(other.to_host(), PluginError);
}

TEST_P(BufferTest, CopiesToAnotherDevice) {
  const auto two = client(2);
  const Buffer copy = two->to_device(HostArray::of({1.0f, 2.0f}, {2}), 0).copy_to_device(1);
  EXPECT_EQ(copy.device_index(), 1);
  EXPECT_THAT(copy.to_host().values<float>(), ElementsAre(1, 2));
}

TEST_P(BufferTest, NamesADeviceThatIsNotThere) {
  try {
    client()->to_device(HostArray::scalar(1), 5);
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.what(), HasSubstr("device 5 asked for, this process has 1"));
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, BufferTest, ::testing::ValuesIn(cpu_plugins()), test_name);

}  // namespace
}  // namespace pax
