#include "pax/checkpoint/load_rule.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {
namespace {

/// Python's str.format for text arguments: {} in turn, {1} by number, {{ and }} for braces.
std::string format_groups(std::string_view source, const std::vector<std::string>& groups) {
  std::string result;
  size_t next = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    const bool doubled = i + 1 < source.size() && source[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      result += c;
      ++i;
      continue;
    }
    if (c != '{') {
      if (c == '}') fail<ConfigError>("load rule source {}: '}}' without '{{'", json_quote(source));
      result += c;
      continue;
    }
    const size_t end = source.find('}', i);
    if (end == std::string_view::npos) fail<ConfigError>("load rule source {}: '{{' without '}}'", json_quote(source));
    const std::string_view field = source.substr(i + 1, end - i - 1);
    size_t index = next;
    if (field.empty()) {
      ++next;
    } else if (const auto parsed = std::from_chars(field.data(), field.data() + field.size(), index);
               parsed.ec != std::errc() || parsed.ptr != field.data() + field.size()) {
      fail<ConfigError>("load rule source {}: {{{}}} is not the number of a group", json_quote(source), field);
    }
    if (index >= groups.size()) {
      fail<ConfigError>("load rule source {}: asks for group {} but its pattern has {}", json_quote(source), index + 1,
                        groups.size());
    }
    result += groups[index];
    i = end;
  }
  return result;
}

}  // namespace

struct LoadRule::Regex {
  explicit Regex(const std::string& pattern) : re("^(?:" + pattern + ")", RE2::Quiet) {}
  RE2 re;
};

LoadRule::LoadRule(std::string_view pattern, std::string_view source)
    : pattern_(pattern), source_(source), regex_(std::make_unique<Regex>(pattern_)) {
  if (!regex_->re.ok()) fail<ConfigError>("load rule {}: {}", json_quote(pattern), regex_->re.error());
  format_groups(source_, std::vector<std::string>(static_cast<size_t>(regex_->re.NumberOfCapturingGroups())));
}

LoadRule::~LoadRule() = default;
LoadRule::LoadRule(LoadRule&&) noexcept = default;
LoadRule& LoadRule::operator=(LoadRule&&) noexcept = default;

std::optional<std::string> LoadRule::apply(std::string_view name) const {
  std::vector<re2::StringPiece> pieces(static_cast<size_t>(regex_->re.NumberOfCapturingGroups()) + 1);
  const re2::StringPiece text(name.data(), name.size());
  if (!regex_->re.Match(text, 0, text.size(), RE2::ANCHOR_START, pieces.data(), static_cast<int>(pieces.size()))) {
    return std::nullopt;
  }
  std::vector<std::string> groups;
  for (size_t i = 1; i < pieces.size(); ++i) groups.push_back(pieces[i].as_string());
  return format_groups(source_, groups);
}

}  // namespace pax
