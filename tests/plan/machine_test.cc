#include "pax/plan/machine.h"

#include <gmock/gmock.h>

#include "pax/base/error.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(std::string_view name) {
  try {
    find_machine(name);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Machine, TpuNamesGiveThePluginsTopologyAndDevices) {
  const std::tuple<const char*, const char*, int64_t> machines[] = {
      {"v4-8", "v4:2x2x1", 4},         {"v4-64", "v4:2x4x4", 32},        {"v4-384", "v4:4x4x12", 192},
      {"v4-4096", "v4:8x16x16", 2048}, {"v5p-128", "v5:4x4x4", 64},      {"v5p-1920", "v5:4x12x20", 960},
      {"v5e-1", "v5e:1x1", 1},         {"v5e-256", "v5e:16x16", 256},    {"v6e-64", "v6e:8x8", 64},
      {"tpu7x-2", "tpu7x:1x1x1", 2},   {"tpu7x-128", "tpu7x:4x4x4", 128}};
  for (const auto& [name, topology, devices] : machines) {
    const Machine machine = find_machine(name);
    EXPECT_EQ(machine.topology_name, topology);
    EXPECT_EQ(machine.num_devices(), devices) << name;
  }
}

TEST(Machine, SlicesMultiplyTheDevices) {
  const Machine machine = find_machine("2xv4-128");
  EXPECT_EQ(machine.slices, 2);
  EXPECT_EQ(machine.num_devices(), 128);
  EXPECT_EQ(std::get<int64_t>(machine.options.back().second), 2);
}

TEST(Machine, GpusComeInHostsOfEight) {
  const Machine machine = find_machine("h100x64");
  EXPECT_EQ(machine.num_devices(), 64);
  EXPECT_EQ(std::get<std::string>(machine.options.back().second), "1x8x8");
  EXPECT_THAT(std::get<std::string>(machine.options.front().second), HasSubstr("core_count: 132"));
}

TEST(Machine, UnknownNamesGetTheNearest) {
  EXPECT_THAT(error_of("v4-65"), AllOf(HasSubstr("\"v4-65\" is not known"), HasSubstr("Did you mean \"v4-64\"")));
  EXPECT_THAT(error_of("h100x12"), HasSubstr("Did you mean \"h100x1"));
  EXPECT_THAT(error_of("v5litepod-8"), HasSubstr("v5e-256"));
  for (const char* name : {"", "x", "2x", "0xv4-8", "v4-", "v4--8", "v4-99999999999999999999", "v5e-2", "cpux0"}) {
    EXPECT_THAT(error_of(name), HasSubstr("is not known")) << name;
  }
}

}  // namespace
}  // namespace pax
