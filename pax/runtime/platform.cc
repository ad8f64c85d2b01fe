#include "pax/runtime/platform.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "pax/base/text.h"

namespace pax {
namespace {

const std::array<std::string, 4> kPlatforms = {"cpu", "cuda", "rocm", "tpu"};

/// CPU plugins, fastest first as `benchmarks/plugins` measures them.
constexpr std::array<std::string_view, 3> kByMeasurement = {"fastatomstruct-xla-cpu", "xla-cpu-pjrt",
                                                            "lammps-jax-pjrt-cpu"};

std::filesystem::path deps_dir(const PlatformConfig& config) {
  if (!config.deps_dir.empty()) return config.deps_dir;
  std::filesystem::path built_with = PAX_DEPS_DIR;
  if (std::filesystem::exists(built_with)) return built_with;
  // A program that was moved together with its .deps folder.
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (const auto& folder : {program.parent_path(), program.parent_path().parent_path()}) {
    if (std::filesystem::exists(folder / ".deps")) return folder / ".deps";
  }
  return built_with;
}

size_t rank(const std::filesystem::path& plugin) {
  const std::string name = plugin.parent_path().filename();
  return static_cast<size_t>(std::ranges::find(kByMeasurement, name) - kByMeasurement.begin());
}

std::string setup_command(std::string_view platform) {
  return platform == "cpu" ? "scripts/setup" : fmt::format("scripts/setup --platform {}", platform);
}

}  // namespace

std::vector<std::filesystem::path> installed_plugins(const std::filesystem::path& deps_dir, std::string_view platform) {
  std::vector<std::filesystem::path> plugins;
  const std::filesystem::path folder = deps_dir / "plugins" / platform;
  if (!std::filesystem::is_directory(folder)) return plugins;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (std::filesystem::exists(entry.path() / "plugin.so")) plugins.push_back(entry.path() / "plugin.so");
  }
  std::ranges::sort(plugins, {}, [](const auto& plugin) { return std::pair(rank(plugin), plugin); });
  return plugins;
}

std::filesystem::path find_plugin(const PlatformConfig& config) {
  if (std::ranges::find(kPlatforms, config.name) == kPlatforms.end()) {
    if (std::filesystem::is_regular_file(config.name)) return config.name;
    fail<ConfigError>("platform.name: \"{}\" is neither a platform ({}) nor a plugin file.{}", config.name,
                      join(kPlatforms, ", "), did_you_mean(config.name, kPlatforms));
  }
  const std::filesystem::path deps = deps_dir(config);
  const std::vector<std::filesystem::path> plugins = installed_plugins(deps, config.name);
  if (plugins.empty()) {
    fail<ConfigError>("platform.name: no plugin for \"{}\" below {}; run {}", config.name, (deps / "plugins").string(),
                      setup_command(config.name));
  }
  if (config.plugin.empty()) return plugins.front();
  std::vector<std::string> names;
  for (const auto& plugin : plugins) {
    names.push_back(plugin.parent_path().filename());
    if (names.back() == config.plugin) return plugin;
  }
  fail<ConfigError>("platform.plugin: \"{}\" is not installed for {}; there are: {}", config.plugin, config.name,
                    join(names, ", "));
}

std::shared_ptr<const Client> open_client(const PlatformConfig& config, std::shared_ptr<KeyValueStore> store) {
  if (config.cpu_device_count < 0) {
    fail<ConfigError>("platform.cpu_device_count: {} devices; give 0 for the default, or a positive number",
                      config.cpu_device_count);
  }
  NamedValues options;
  if (config.cpu_device_count > 0) options.emplace_back("cpu_device_count", config.cpu_device_count);
  return Client::create(Plugin::load(find_plugin(config)), options, std::move(store));
}

std::shared_ptr<const Plugin> load_compiler(const PlatformConfig& config) {
  // libtpu would ask the cloud's metadata server for minutes, and wants to be alone on the machine.
  ::setenv("TPU_SKIP_MDS_QUERY", "1", 0);
  ::setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
  return Plugin::load(find_plugin(config));
}

}  // namespace pax
