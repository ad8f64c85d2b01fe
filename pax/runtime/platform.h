#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pax/pjrt/client.h"

namespace pax {

/// Which devices an experiment runs on.
struct PlatformConfig {
  /// "cpu", "cuda", "rocm", "tpu", or the path of a PJRT plugin.
  std::string name = "cpu";
  /// Which of the platform's plugins, when several are installed: a wheel's name. Empty: the fastest by measurement.
  std::string plugin;
  /// Virtual devices on CPU; 0 is the plugin's default of one.
  int64_t cpu_device_count = 0;
  /// On CPU: programs call Pax's own kernels where the machine has the instructions that they gain by.
  bool kernels = false;
  /// Folder that scripts/setup filled. Empty: the one this program was built with.
  std::string deps_dir;

  static void fields(auto& self, auto&& visit) {
    visit("name", self.name, "cpu, cuda, rocm, tpu, or the path of a PJRT plugin.");
    visit("plugin", self.plugin, "Which of the platform's plugins; empty: the fastest by measurement.");
    visit("cpu_device_count", self.cpu_device_count, "Virtual devices on CPU; 0: one.");
    visit("kernels", self.kernels, "On CPU: call Pax's own kernels where the machine has tile products (AMX).");
    visit("deps_dir", self.deps_dir, "Folder that scripts/setup filled; empty: the one this program was built with.");
  }
};

/// The plugin library that `config` names. Throws ConfigError listing what is installed and what to run.
std::filesystem::path find_plugin(const PlatformConfig& config);

/// Every installed plugin of a platform, best first.
std::vector<std::filesystem::path> installed_plugins(const std::filesystem::path& deps_dir, std::string_view platform);

/// Loads the plugin and opens its devices.
std::shared_ptr<const Client> open_client(const PlatformConfig& config, std::shared_ptr<KeyValueStore> store = nullptr);

/// Loads the plugin to compile for devices that need not be there (class Topology): none is looked for, and other
/// processes may hold them. A process that did so must not open the devices later.
std::shared_ptr<const Plugin> load_compiler(const PlatformConfig& config);

}  // namespace pax
