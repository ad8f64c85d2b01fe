#include "pax/plan/memory.h"

#include <gmock/gmock.h>

namespace pax {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const Mesh kMesh{{"replica", "data", "mdl"}, {1, 4, 2}};

TEST(BytesOnDevice, DividesByTheAxesOfEachDimension) {
  const TensorType type{DType::kF32, {16, 8}};
  EXPECT_EQ(bytes_on_device(type, {}, kMesh), 16 * 8 * 4);
  EXPECT_EQ(bytes_on_device(type, {{{"data"}, {"mdl"}}}, kMesh), 4 * 4 * 4);
  EXPECT_EQ(bytes_on_device(type, {{{"data", "mdl"}, {}}}, kMesh), 2 * 8 * 4);
}

TEST(BytesOnDevice, HasDimensionsThatDoNotDivideWhole) {
  EXPECT_EQ(bytes_on_device({DType::kBF16, {10}}, {{{"data"}}}, kMesh), 10 * 2);
  EXPECT_EQ(bytes_on_device({DType::kBF16, {10}}, {{{"mdl", "data"}}}, kMesh), 5 * 2);
}

TEST(Peak, IsThePluginsOrTheSumOfItsParts) {
  MemoryPlan told, summed;
  add_program(told, {.code = 1, .arguments = 10, .outputs = 9, .aliased = 8, .temporaries = 100, .peak = 105});
  add_program(summed, {.code = 1, .arguments = 10, .outputs = 9, .aliased = 8, .temporaries = 100});
  EXPECT_EQ(told.peak, 105);
  EXPECT_EQ(summed.peak, 1 + 10 + 9 - 8 + 100);
}

TEST(Refusal, TellsWhatWasNeededAndByWhom) {
  MemoryPlan memory{.weights = 1 << 30, .capacity = int64_t{32} << 30};
  add_refusal(memory, R"(RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 33.50G of 30.75G hbm. Exceeded
  Largest program allocations in hbm:
  1. Size: 7.50G
     Operator: op_name="lm/transformer/x_layers_0"
     Shape: bf16[36,32,1024,3072]{3,2,1,0:T(8,128)(2,1)}
  2. Size: 512.0M
     Shape: f32[1024,1024]{1,0})");
  EXPECT_EQ(memory.peak, static_cast<int64_t>(33.5 * (1 << 30)));
  EXPECT_EQ(memory.capacity, static_cast<int64_t>(30.75 * (1 << 30)));
  ASSERT_THAT(memory.largest, SizeIs(2));
  EXPECT_EQ(memory.largest[0].what, "lm/transformer/x_layers_0 bf16[36,32,1024,3072]");
  EXPECT_EQ(memory.largest[1].bytes, 512 << 20);
  EXPECT_FALSE(memory.fits());
}

TEST(Refusal, WithoutNumbersLeavesWhatIsKnown) {
  MemoryPlan memory{.capacity = 7};
  add_refusal(memory, "Size: Used of Size:");
  EXPECT_EQ(memory.capacity, 7);
}

}  // namespace
}  // namespace pax
