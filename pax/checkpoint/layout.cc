#include "pax/checkpoint/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {
namespace {

constexpr std::string_view kPrefix = "checkpoint_";
constexpr size_t kMostNameBytes = 255;  // what file systems allow

bool is_plain(std::string_view part) {
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\'' && c != '"' && c != '\\';
  };
  return !part.empty() && part != "." && part != ".." && is_utf8(part) && std::all_of(part.begin(), part.end(), plain);
}

}  // namespace

std::string checkpoint_name(int64_t step) { return fmt::format("{}{:08}", kPrefix, step); }

std::optional<int64_t> step_of_checkpoint_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  int64_t step = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (parsed.ec != std::errc() || checkpoint_name(step) != name || step < 0) return std::nullopt;
  return step;
}

bool is_temporary_name(std::string_view name) {
  const size_t infix = name.find(kTemporaryInfix);
  return infix != std::string_view::npos && step_of_checkpoint_name(name.substr(0, infix)).has_value();
}

std::string array_folder_name(std::string_view array) {
  std::string name(array);
  for (const std::string& part : split(array, '/')) {
    if (!is_plain(part) || part.find('.') != std::string::npos) {
      fail<RuntimeError>("array {}: cannot be saved under this name: each part must be plain text without dots",
                         json_quote(array));
    }
  }
  std::replace(name.begin(), name.end(), '/', '.');
  if (name.size() > kMostNameBytes) {
    fail<RuntimeError>("array {}: the name has {} bytes, file systems allow {}", json_quote(array), name.size(),
                       kMostNameBytes);
  }
  return name;
}

void require_item_name(std::string_view item) {
  const std::vector<std::string> parts = split(item, '/');
  const bool reserved = parts[0] == kStateItem || parts[0] == kMetadataItem || parts[0].starts_with("_") ||
                        item == kChecksumsFile || item == kCommitMarker;
  if (reserved || !std::all_of(parts.begin(), parts.end(), is_plain)) {
    fail<RuntimeError>("checkpoint item {}: not a name that an item can have", json_quote(item));
  }
}

}  // namespace pax
