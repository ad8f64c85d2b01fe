#include <vector>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/checkpoint/reader.h"

namespace pax {
namespace {

constexpr size_t kMostNamed = 20;

void add_list(std::string& message, std::string_view title, const std::vector<std::string>& names) {
  if (names.empty()) return;
  message += fmt::format("; {} {}: ", names.size(), title);
  const std::span<const std::string> shown(names.data(), std::min(names.size(), kMostNamed));
  message += join(shown, ", ");
  if (names.size() > kMostNamed) message += fmt::format(" and {} more", names.size() - kMostNamed);
}

}  // namespace

void require_same_types(std::string_view where, const Tree<TensorType>& found, const Tree<TensorType>& expected,
                        std::string_view remedy) {
  std::vector<std::string> missing;
  std::vector<std::string> extra;
  std::vector<std::string> different;
  for (const auto& [name, type] : expected) {
    const auto stored = found.find(name);
    if (stored == found.end()) {
      missing.push_back(name);
    } else if (stored->second != type) {
      different.push_back(fmt::format("{} ({} there, {} here)", name, to_string(stored->second), to_string(type)));
    }
  }
  for (const auto& [name, type] : found) {
    if (!expected.contains(name)) extra.push_back(name);
  }
  if (missing.empty() && extra.empty() && different.empty()) return;
  std::string message = fmt::format("{}: is of another model", where);
  add_list(message, "of another type", different);
  add_list(message, "missing there", missing);
  add_list(message, "not in this model", extra);
  fail<RuntimeError>("{}; {}", message, remedy);
}

}  // namespace pax
