#include "pax/runtime/compile_cache.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/hash.h"
#include "pax/base/log.h"

namespace pax {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "PAXEXE01";
constexpr uintmax_t kMaxBytes = uintmax_t{4} << 30;

/// What the host's processor can do: compiled programs for the CPU hold its instructions.
std::string processor() {
  std::string out;
  if (!fs::exists("/proc/cpuinfo")) return out;
  const std::string info = read_file("/proc/cpuinfo");
  for (const std::string_view name : {"model name", "flags"}) {
    const size_t begin = info.find(name);
    if (begin != std::string::npos) out += info.substr(begin, info.find('\n', begin) - begin);
  }
  return out;
}

/// File: magic, digest of the key and the executable (32 digits), executable.
std::string sealed(std::string_view key, std::string_view executable) {
  const std::string digest = Digest().update(key).update(executable).hex();
  return fmt::format("{}{}", kMagic, digest).append(executable);
}

std::optional<std::string> unsealed(std::string_view key, std::string_view contents) {
  constexpr size_t kHeader = kMagic.size() + 32;
  if (contents.size() < kHeader || !contents.starts_with(kMagic)) return std::nullopt;
  const std::string_view executable = contents.substr(kHeader);
  if (Digest().update(key).update(executable).hex() != contents.substr(kMagic.size(), 32)) return std::nullopt;
  return std::string(executable);
}

/// Removes the files that were not used for longest until the folder is below its limit.
void prune(const fs::path& directory) {
  struct File {
    fs::file_time_type time;
    uintmax_t size;
    fs::path path;
  };
  std::vector<File> files;
  uintmax_t total = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const uintmax_t size = entry.file_size(ignored);
    if (ignored) continue;
    files.push_back({entry.last_write_time(ignored), size, entry.path()});
    total += size;
  }
  std::ranges::sort(files, {}, &File::time);
  for (const File& file : files) {
    if (total <= kMaxBytes) return;
    if (fs::remove(file.path, ignored)) total -= file.size;
  }
}

}  // namespace

fs::path default_cache_directory() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return fs::path(cache) / "pax" / "executables";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? fs::path() : fs::path(home) / ".cache" / "pax" / "executables";
}

CompileCache::CompileCache(fs::path directory) : directory_(std::move(directory)) {}

LoadedExecutable CompileCache::compile(const Client& client, std::string_view stablehlo,
                                       const CompileOptions& options) {
  const auto compile_now = [&] {
    ++compiles_;
    return client.compile(stablehlo, options);
  };
  if (directory_.empty()) return compile_now();

  const std::string key = Digest()
                              .update(stablehlo)
                              .update(serialize(options))
                              .update(client.plugin()->identity())
                              .update(client.platform_version())
                              .update(client.platform_name() == "cpu" ? processor() : std::string())
                              .hex();
  const fs::path path = directory_ / key;
  try {
    if (fs::exists(path)) {
      if (const auto executable = unsealed(key, MappedFile(path).text())) {
        LoadedExecutable loaded = client.load(*executable);
        ++hits_;
        std::error_code ignored;
        fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
        return loaded;
      }
      log_warning("{}: a damaged executable; compiling again", path.string());
    }
  } catch (const RuntimeError& error) {
    log_warning("{}: cannot be loaded, compiling again: {}", path.string(), error.what());
  }

  LoadedExecutable compiled = compile_now();
  try {
    fs::create_directories(directory_);
    write_file_atomically(path, sealed(key, compiled.executable().serialize()));
    prune(directory_);
  } catch (const std::exception& error) {
    log_warning("the compiled program is not kept for the next start: {}", error.what());
  }
  return compiled;
}

}  // namespace pax
