#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pax::data {

/// The regular expressions that tokenizer.json files split text with: alternatives, groups `(?:)`, `(?i:)`, lookahead
/// `(?=)` `(?!)`, classes with \s \S \d \w \p{…} \P{…} and ranges, quantifiers greedy, lazy (`?`) and possessive (`+`).
/// Backtracking, first alternative first, over code points.
class SplitRegex {
 public:
  /// Throws ConfigError naming the place in `pattern` that is not understood.
  explicit SplitRegex(std::string_view pattern);
  ~SplitRegex();
  SplitRegex(SplitRegex&&) noexcept;

  /// The first match at or after `from`: begin and end, or npos when there is none. Empty matches do not count.
  /// Throws RuntimeError when the pattern needs too many steps.
  std::pair<size_t, size_t> find(std::string_view text, size_t from) const;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace pax::data
