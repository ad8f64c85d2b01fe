#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace pax {

/// A regular expression in RE2's syntax: Python's without look-around and back references. Takes time linear in the
/// text whatever the pattern.
class Pattern {
 public:
  /// Throws ConfigError quoting the pattern and what is wrong with it.
  explicit Pattern(std::string_view pattern);

  /// As Python's fullmatch, match and search.
  bool matches(std::string_view text) const;
  bool matches_start(std::string_view text) const;
  bool occurs_in(std::string_view text) const;

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace pax
