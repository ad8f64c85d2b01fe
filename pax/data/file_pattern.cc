#include "pax/data/file_pattern.h"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax::data {
namespace {

/// The glob of `name@10`, or `part` itself.
std::string shards_as_glob(const std::string& part) {
  const size_t at = part.rfind('@');
  if (at == std::string::npos) return part;
  int count = 0;
  const char* end = part.data() + part.size();
  const auto [stop, error] = std::from_chars(part.data() + at + 1, end, count);
  if (error != std::errc() || stop != end || count < 1) return part;
  return fmt::format("{}-*-of-{:05}", part.substr(0, at), count);
}

}  // namespace

std::vector<std::filesystem::path> expand_file_pattern(std::string_view pattern) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_regular_file(pattern)) return {std::filesystem::path(pattern)};
  for (const std::string& part : split(pattern, ',')) {
    if (part.empty()) fail<RuntimeError>("file pattern \"{}\": a part of it is empty", pattern);
    if (std::filesystem::exists(part)) {
      files.emplace_back(part);
      continue;
    }
    glob_t found{};
    const int status = ::glob(shards_as_glob(part).c_str(), GLOB_MARK, nullptr, &found);
    const size_t before = files.size();
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      const std::string_view name = found.gl_pathv[i];
      if (!name.ends_with('/')) files.emplace_back(name);
    }
    ::globfree(&found);
    if (files.size() > before) continue;
    if (status == GLOB_ABORTED) fail<RuntimeError>("{}: a folder of this pattern cannot be read", part);
    fail<RuntimeError>("{}: no such file", part);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace pax::data
