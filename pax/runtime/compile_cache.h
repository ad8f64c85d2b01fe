#pragma once

#include <atomic>
#include <filesystem>
#include <string_view>

#include "pax/pjrt/client.h"

namespace pax {

/// `$XDG_CACHE_HOME/pax/executables`, or the same below `~/.cache`.
std::filesystem::path default_cache_directory();

/// Executables on disk, found again by program text, options and plugin. Thread-safe; several processes may share one.
class CompileCache {
 public:
  /// An empty path keeps nothing.
  explicit CompileCache(std::filesystem::path directory = default_cache_directory());

  /// The program from disk, or compiled and put there. A file that cannot be loaded is compiled anew and replaced; a
  /// folder that cannot be written costs a warning.
  LoadedExecutable compile(const Client& client, std::string_view stablehlo, const CompileOptions& options);

  int64_t compiles() const { return compiles_; }
  int64_t hits() const { return hits_; }

 private:
  std::filesystem::path directory_;
  std::atomic<int64_t> compiles_ = 0;
  std::atomic<int64_t> hits_ = 0;
};

}  // namespace pax
