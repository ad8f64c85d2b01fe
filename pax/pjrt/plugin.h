#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pax/base/error.h"

struct PJRT_Api;

namespace pax {

/// A failed call into a plugin. `what()` names plugin path, both API versions, function and reason.
class PluginError : public RuntimeError {
 public:
  enum class Code : uint8_t {
    kUnknown,
    kInvalidArgument,
    kNotFound,
    kResourceExhausted,
    kUnimplemented,  ///< The plugin is too old for the function, leaves it out, or says so itself.
    kOther
  };
  PluginError(Code code, const std::string& message) : RuntimeError(message), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

struct PluginVersion {
  int major = 0;
  int minor = 0;
  bool operator==(const PluginVersion&) const = default;
};

/// A value of an option or attribute that a plugin takes or tells.
using NamedValue = std::variant<std::string, int64_t, std::vector<int64_t>, float, bool>;
using NamedValues = std::vector<std::pair<std::string, NamedValue>>;

/// A PJRT plugin: a shared library with the entry point GetPjrtApi. Stays loaded until the process ends.
class Plugin {
 public:
  /// Loads and initializes the library. Throws RuntimeError naming the path when it is no library, has no entry point,
  /// or is of another major version.
  static std::shared_ptr<const Plugin> load(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  PluginVersion version() const;
  /// What the plugin tells about itself: `xla_version`, `stablehlo_current_version`, …
  NamedValues attributes() const;
  /// Path, size and time of the library and its version: changes whenever compiled programs may change.
  std::string identity() const;

  /// Makes `handler` (an XLA_FFI_Handler) known to programs as custom call `name` on XLA's platform `platform`
  /// ("Host", "CUDA"). Throws PluginError(kUnimplemented) when the plugin takes none.
  void register_ffi_handler(std::string_view name, void* handler, std::string_view platform = "Host") const;

  /// The table of functions, for this folder's sources.
  const PJRT_Api* api() const { return api_; }
  /// `path (PJRT 0.90; this program: 0.81)`: how messages name this plugin.
  std::string described() const;

 private:
  Plugin(std::filesystem::path path, const PJRT_Api* api) : path_(std::move(path)), api_(api) {}

  std::filesystem::path path_;
  const PJRT_Api* api_;
};

}  // namespace pax
