#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pax {

/// A pattern and what takes its place: Python's `re.match` and `str.format` of the groups.
class LoadRule {
 public:
  /// Throws ConfigError when `pattern` is not a regular expression (RE2's syntax) or `source` asks for a group that the
  /// pattern lacks.
  explicit LoadRule(std::string_view pattern, std::string_view source = "");
  ~LoadRule();
  LoadRule(LoadRule&&) noexcept;
  LoadRule& operator=(LoadRule&&) noexcept;

  const std::string& pattern() const { return pattern_; }
  bool matches(std::string_view name) const { return apply(name).has_value(); }
  /// `source` with the groups of the match; nothing when the beginning of `name` does not match.
  std::optional<std::string> apply(std::string_view name) const;

 private:
  struct Regex;
  std::string pattern_;
  std::string source_;
  std::unique_ptr<Regex> regex_;
};

}  // namespace pax
