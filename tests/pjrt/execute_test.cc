#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/pjrt/executable.h"
#include "tests/pjrt/cpu_plugins.h"

namespace pax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExecuteTest : public CpuPluginTest {};

constexpr std::string_view kSquarePlus = R"(module @square_plus {
func.func public @main(%0: tensor<3xf32>, %1: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %2 = "stablehlo.multiply"(%0, %0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("model/square")
  %3 = "stablehlo.add"(%2, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "func.return"(%3, %2) : (tensor<3xf32>, tensor<3xf32>) -> ()
}
})";

constexpr std::string_view kDonating = R"(module @donating {
func.func public @main(%0: tensor<3xf32> {tf.aliasing_output = 0 : i32}, %1: tensor<3xf32>) -> (tensor<3xf32>) {
  %2 = "stablehlo.add"(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  "func.return"(%2) : (tensor<3xf32>) -> ()
}
})";

/// y = x w, with x split over `data` and w over `mdl`; the sum of y needs all devices.
constexpr std::string_view kSharded = R"(module @sharded {
sdy.mesh @mesh = <["data"=2, "mdl"=2]>
func.func public @main(%0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                       %1: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"mdl"}]>})
    -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"mdl"}]>},
        tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %2 = "stablehlo.dot_general"(%0, %1) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>} : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %3 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %4 = "stablehlo.reduce"(%2, %3) ({
    ^bb0(%5: tensor<f32>, %6: tensor<f32>):
      %7 = "stablehlo.add"(%5, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 0, 1>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  "func.return"(%2, %4) : (tensor<4x4xf32>, tensor<f32>) -> ()
}
})";

HostArray three(float a, float b, float c) { return HostArray::of({a, b, c}, {3}); }

TEST_P(ExecuteTest, ComputesEveryResult) {
  const LoadedExecutable program = client()->compile(kSquarePlus);
  const BufferList results =
      program.execute({client()->to_device(three(1, 2, 3)), client()->to_device(three(10, 20, 30))});
  EXPECT_THAT(results[0].to_host().values<float>(), ElementsAre(11, 24, 39));
  EXPECT_THAT(results[1].to_host().values<float>(), ElementsAre(1, 4, 9));
}

TEST_P(ExecuteTest, DonatesWhatTheProgramAliases) {
  const LoadedExecutable program = client()->compile(kDonating);
  const Buffer donated = client()->to_device(three(1, 2, 3));
  const Buffer kept = client()->to_device(three(1, 1, 1));
  const BufferList results = program.execute({donated, kept});
  EXPECT_THAT(results[0].to_host().values<float>(), ElementsAre(2, 3, 4));
  EXPECT_TRUE(donated.deleted());
  EXPECT_FALSE(kept.deleted());
}

TEST_P(ExecuteTest, ReusesTheMemoryOfADonatedResult) {
  const LoadedExecutable program = client()->compile(kDonating);
  const Buffer one = client()->to_device(three(1, 1, 1));
  const Buffer state = program.execute({client()->to_device(three(1, 2, 3)), one})[0];
  const std::byte* before = state.view_on_host().bytes().data();
  const Buffer next = program.execute({state, one})[0];
  EXPECT_EQ(next.view_on_host().bytes().data(), before);
}

TEST_P(ExecuteTest, LeavesAloneWhatTheCallerKeeps) {
  const LoadedExecutable program = client()->compile(kDonating);
  const Buffer kept = client()->to_device(three(1, 2, 3));
  program.execute({kept, client()->to_device(three(1, 1, 1))}, {.keep = {0}});
  EXPECT_THAT(kept.to_host().values<float>(), ElementsAre(1, 2, 3));
}

TEST_P(ExecuteTest, DoesNotWriteIntoAZeroCopyArray) {
  const LoadedExecutable program = client()->compile(kDonating);
  std::vector<float> values(3, 1.0f);
  const HostArray array = three(1, 2, 3);
  const Buffer donated = client()->to_device(array, 0, HostTransfer::kZeroCopy);
  const BufferList results = program.execute({donated, client()->to_device(three(1, 1, 1))});
  EXPECT_THAT(results[0].to_host().values<float>(), ElementsAre(2, 3, 4));
  EXPECT_THAT(array.values<float>(), ElementsAre(1, 2, 3));
}

TEST_P(ExecuteTest, ACopyBegunBeforeDonationHasTheOldValue) {
  const LoadedExecutable program = client()->compile(kDonating);
  Buffer state = client()->to_device(three(1, 2, 3));
  const Buffer one = client()->to_device(three(1, 1, 1));
  const HostCopy copy = state.copy_to_host();
  for (int i = 0; i < 10; ++i) state = program.execute({state, one})[0];
  EXPECT_THAT(copy.wait().values<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(state.to_host().values<float>(), ElementsAre(11, 12, 13));
}

TEST_P(ExecuteTest, RefusesADeletedArgument) {
  const LoadedExecutable program = client()->compile(kDonating);
  const Buffer donated = client()->to_device(three(1, 2, 3));
  program.execute({donated, client()->to_device(three(1, 1, 1))});
  EXPECT_THROW(program.execute({donated, client()->to_device(three(1, 1, 1))}), PluginError);
}

TEST_P(ExecuteTest, PartitionsOverVirtualDevicesByShardy) {
  const auto four = client(4);
  const LoadedExecutable program = four->compile(kSharded, {.num_partitions = 4});
  ASSERT_THAT(program.device_indices(), ElementsAre(0, 1, 2, 3));
  std::vector<BufferList> arguments;
  for (int64_t device = 0; device < 4; ++device) {
    const float row = device < 2 ? 1.0f : 2.0f;
    const float column = device % 2 == 0 ? 1.0f : 10.0f;
    arguments.push_back({four->to_device(HostArray::of({row, row, row, row}, {2, 2}), device),
                         four->to_device(HostArray::of({column, column, column, column}, {2, 2}), device)});
  }
  const std::vector<BufferList> results = program.execute(arguments);
  EXPECT_THAT(results[0][0].to_host().values<float>(), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(results[1][0].to_host().values<float>(), ElementsAre(20, 20, 20, 20));
  EXPECT_THAT(results[2][0].to_host().values<float>(), ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(results[3][0].to_host().values<float>(), ElementsAre(40, 40, 40, 40));
  for (const BufferList& device : results) EXPECT_EQ(device[1].to_host().item(), 4 * (2 + 20 + 4 + 40));
}

TEST_P(ExecuteTest, NamesBothNumbersWhenDevicesAreMissing) {
  const auto four = client(4);
  const LoadedExecutable program = four->compile(kSharded, {.num_partitions = 4});
  try {
    program.execute(BufferList{});
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.what(), HasSubstr("arguments for 1 devices given, the program runs on 4"));
  }
}

TEST_P(ExecuteTest, RunsAgainAfterSerializing) {
  const std::string bytes = client()->compile(kSquarePlus).executable().serialize();
  const LoadedExecutable program = client()->load(bytes);
  const BufferList results =
      program.execute({client()->to_device(three(1, 2, 3)), client()->to_device(three(0, 0, 0))});
  EXPECT_THAT(results[0].to_host().values<float>(), ElementsAre(1, 4, 9));
}

TEST_P(ExecuteTest, RunsAPartitionedProgramAgainAfterSerializing) {
  const auto four = client(4);
  const std::string bytes = four->compile(kSharded, {.num_partitions = 4}).executable().serialize();
  EXPECT_THAT(four->load(bytes).device_indices(), ElementsAre(0, 1, 2, 3));
}

TEST_P(ExecuteTest, TellsWhatIsWrongWithAProgramInOneLine) {
  try {
    client()->compile("module { this is not stablehlo }");
    FAIL();
  } catch (const PluginError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam()));
    EXPECT_THAT(error.what(), HasSubstr("PJRT_Client_Compile"));
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
  }
}

TEST_P(ExecuteTest, KnowsTheTypesOfItsOutputs) {
  const Executable executable = client()->compile(kSquarePlus).executable();
  EXPECT_THAT(executable.output_types(),
              ElementsAre(TensorType{DType::kF32, Shape{3}}, TensorType{DType::kF32, Shape{3}}));
}

TEST_P(ExecuteTest, CountsTheBytesOfArgumentsAndAliases) {
  const MemoryStats stats = client()->compile(kDonating).executable().memory_stats();
  EXPECT_EQ(stats.arguments, 2 * 3 * 4);
  EXPECT_EQ(stats.outputs, 3 * 4);
  EXPECT_EQ(stats.aliased, 3 * 4);
}

TEST_P(ExecuteTest, KeepsLayerPathsInTheOptimizedProgram) {
  const OptimizedProgram program = client()->compile(kSquarePlus).executable().optimized_program();
  EXPECT_THAT(program.format, HasSubstr("hlo"));
  EXPECT_THAT(program.bytes, HasSubstr("model/square"));
}

TEST_P(ExecuteTest, CountsFlopsOrSaysThatItCannot) {
  const auto costs = client()->compile(kDonating).executable().cost_analysis();
  EXPECT_EQ(costs ? costs->at("flops") : 3, 3);
}

TEST_P(ExecuteTest, DescribesItsDevices) {
  EXPECT_EQ(client(4)->devices().size(), 4u);
  EXPECT_EQ(client()->platform_name(), "cpu");
  EXPECT_EQ(client()->local_devices()[0].kind, "cpu");
}

INSTANTIATE_TEST_SUITE_P(Cpu, ExecuteTest, ::testing::ValuesIn(cpu_plugins()), test_name);

}  // namespace
}  // namespace pax
