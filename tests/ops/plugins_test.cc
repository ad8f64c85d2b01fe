// The text of every recorded case compiles in every plugin that is installed, ahead of time where there is no device.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "pax/ir/stablehlo.h"
#include "pax/pjrt/client.h"
#include "pax/pjrt/topology.h"
#include "tests/ops/jax_cases.h"

namespace pax {
namespace {

constexpr size_t kOpsAProgram = 8;

std::filesystem::path plugin_path(const std::string& platform, const std::string& wheel) {
  return std::filesystem::path(PAX_DEPS_DIR) / "plugins" / platform / wheel / "plugin.so";
}

/// The cases of all ops, several ops a program. `skip` names what the platform does not have.
std::vector<std::string> programs(const Target& target, const std::vector<std::string>& skip = {}) {
  std::vector<std::string> texts;
  std::vector<std::string> ops = jax_case_ops();
  std::erase_if(ops, [&](const std::string& op) { return std::ranges::find(skip, op) != skip.end(); });
  for (size_t first = 0; first < ops.size(); first += kOpsAProgram) {
    Graph graph;
    JaxCases cases;
    for (size_t i = first; i < std::min(first + kOpsAProgram, ops.size()); ++i) add_jax_cases(ops[i], graph, cases);
    texts.push_back(to_stablehlo(*lower(graph, target)));
  }
  return texts;
}

class CpuPlugins : public ::testing::TestWithParam<std::string> {};

TEST_P(CpuPlugins, CompileEveryCase) {
  const auto path = plugin_path("cpu", GetParam());
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "scripts/setup has not installed it";
  const auto client = Client::create(Plugin::load(path), {{"cpu_device_count", int64_t{1}}});
  for (const std::string& text : programs({})) EXPECT_NO_THROW(client->compile(text));
}

INSTANTIATE_TEST_SUITE_P(All, CpuPlugins,
                         ::testing::Values("xla-cpu-pjrt", "fastatomstruct-xla-cpu", "lammps-jax-pjrt-cpu"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(TpuPlugin, CompilesEveryCaseAheadOfTime) {
  const auto path = plugin_path("tpu", "libtpu");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "run scripts/setup --platform tpu";
  const Topology topology = Topology::create(Plugin::load(path), "v4:2x2x1",
                                             {{"chip_config_name", std::string("megacore")},
                                              {"chips_per_host_bounds", std::vector<int64_t>{2, 2, 1}},
                                              {"num_slices", int64_t{1}}});
  // There 64 bits have no bit casts, and gradients of extrema no windows over the last two dimensions.
  const std::vector<std::string> skip = {"random_uniform", "reduce_window_max", "reduce_window_min"};
  for (const std::string& text : programs({.platform = Target::Platform::kTpu}, skip)) {
    EXPECT_NO_THROW(topology.compile(text, {}));
  }
}

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

TEST(CudaPlugin, CompilesEveryCaseAheadOfTime) {
  const auto path = plugin_path("cuda", "jax-cuda13-pjrt");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "run scripts/setup --platform cuda";
  const Topology topology = Topology::create(
      Plugin::load(path), "h100", {{"target_config", std::string(kH100)}, {"topology", std::string("1x1x1")}});
  for (const std::string& text : programs({.platform = Target::Platform::kGpu})) {
    EXPECT_NO_THROW(topology.compile(text, {}));
  }
}

}  // namespace
}  // namespace pax
