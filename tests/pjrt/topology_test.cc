// Programs compiled for devices that are not there. Only where scripts/setup --platform tpu|cuda has been run.

#include "pax/pjrt/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace pax {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// x split over four devices, y = gelu(x w), a product large enough to be worth a name.
constexpr std::string_view kSharded = R"(module @sharded {
sdy.mesh @mesh = <["data"=4]>
func.func public @main(%0: tensor<512x256xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                       %1: tensor<256x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<512x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %2 = "stablehlo.dot_general"(%0, %1) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>} : (tensor<512x256xbf16>, tensor<256x512xbf16>) -> tensor<512x512xbf16>
      loc("lm/ffn/up")
  %3 = "stablehlo.tanh"(%2) : (tensor<512x512xbf16>) -> tensor<512x512xbf16>
  "func.return"(%3) : (tensor<512x512xbf16>) -> ()
}
})";

/// Needs 2^41 bytes for its result.
constexpr std::string_view kTooLarge = R"(module @too_large {
func.func public @main(%0: tensor<f32>) -> (tensor<549755813888xf32>) {
  %1 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<549755813888xf32>
  "func.return"(%1) : (tensor<549755813888xf32>) -> ()
}
})";

constexpr std::string_view kH100 = R"(
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128 block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: 3352320000000 l2_cache_size: 52428800
  clock_rate_ghz: 1.98 device_memory_size: 84942979072 shared_memory_per_block_optin: 232448
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  cuda_compute_capability { major: 9 minor: 0 feature_extension: ACCELERATED_FEATURES }
}
platform_name: "CUDA" dnn_version_info { major: 9 minor: 8 } runtime_version { major: 12 minor: 8 }
device_description_str: "NVIDIA H100 80GB HBM3")";

std::filesystem::path plugin_path(const std::string& platform, const std::string& wheel) {
  return std::filesystem::path(PAX_DEPS_DIR) / "plugins" / platform / wheel / "plugin.so";
}

class TpuTopologyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = plugin_path("tpu", "libtpu");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "run scripts/setup --platform tpu";
    plugin_ = Plugin::load(path);
  }

  Topology v4() const {
    return Topology::create(plugin_, "v4:2x2x1",
                            {{"chip_config_name", std::string("megacore")},
                             {"chips_per_host_bounds", std::vector<int64_t>{2, 2, 1}},
                             {"num_slices", int64_t{1}}});
  }

  std::shared_ptr<const Plugin> plugin_;
};

TEST_F(TpuTopologyTest, DescribesFourChips) {
  EXPECT_THAT(v4().device_kinds(), SizeIs(4));
  EXPECT_THAT(v4().device_kinds(), Each("TPU v4"));
  EXPECT_EQ(v4().platform_name(), "tpu");
}

TEST_F(TpuTopologyTest, CompilesAShardedProgramWithNamesAndCosts) {
  const Executable executable = v4().compile(kSharded, {.num_partitions = 4});
  EXPECT_EQ(executable.memory_stats().arguments, 2 * (128 * 256 + 256 * 512));
  EXPECT_THAT(executable.cost_analysis().value().at("flops"), Gt(2.0 * 128 * 256 * 512 - 1));
  const OptimizedProgram program = executable.optimized_program();
  EXPECT_EQ(program.format, "hlo_with_config");
  EXPECT_THAT(program.bytes, HasSubstr("lm/ffn/up"));
  EXPECT_THAT(program.bytes, HasSubstr("estimated_cycles"));
}

TEST_F(TpuTopologyTest, TellsAProgramThatDoesNotFit) {
  try {
    v4().compile(kTooLarge, {});
    FAIL();
  } catch (const PluginError& error) {
    EXPECT_EQ(error.code(), PluginError::Code::kResourceExhausted) << error.what();
  }
}

class GpuTopologyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = plugin_path("cuda", "jax-cuda13-pjrt");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "run scripts/setup --platform cuda";
    plugin_ = Plugin::load(path);
  }

  std::shared_ptr<const Plugin> plugin_;
};

TEST_F(GpuTopologyTest, CompilesAShardedProgramForH100) {
  const Topology topology =
      Topology::create(plugin_, "h100", {{"target_config", std::string(kH100)}, {"topology", std::string("1x1x4")}});
  EXPECT_THAT(topology.device_kinds(), SizeIs(4));
  const Executable executable = topology.compile(kSharded, {.num_partitions = 4});
  EXPECT_EQ(executable.memory_stats().arguments, 2 * (128 * 256 + 256 * 512));
  EXPECT_THAT(executable.optimized_program().bytes, HasSubstr("lm/ffn/up"));
}

}  // namespace
}  // namespace pax
