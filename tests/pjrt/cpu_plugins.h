#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pax/pjrt/client.h"

namespace pax {

/// Names of the CPU plugins that scripts/setup unpacked; the tests run on each.
inline std::vector<std::string> cpu_plugins() {
  return {"xla-cpu-pjrt", "lammps-jax-pjrt-cpu", "fastatomstruct-xla-cpu"};
}

/// A client of plugin `name`, made once a test program.
inline std::shared_ptr<const Client> cpu_client(const std::string& name, int64_t devices = 1) {
  static std::map<std::pair<std::string, int64_t>, std::shared_ptr<const Client>> clients;
  auto& client = clients[{name, devices}];
  if (client == nullptr) {
    const auto path = std::filesystem::path(PAX_DEPS_DIR) / "plugins" / "cpu" / name / "plugin.so";
    client = Client::create(Plugin::load(path), {{"cpu_device_count", devices}});
  }
  return client;
}

inline std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

/// A test that runs on every CPU plugin.
class CpuPluginTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const Client> client(int64_t devices = 1) { return cpu_client(GetParam(), devices); }
};

}  // namespace pax
