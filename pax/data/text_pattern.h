#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pax::data {

/// What parts of a tokenizer.json look for in text: a piece of text or a regular expression.
class TextPattern {
 public:
  virtual ~TextPattern() = default;
  /// Every match in order, begin and end; none is empty, none overlap.
  virtual std::vector<std::pair<size_t, size_t>> matches(std::string_view text) const = 0;
};

std::unique_ptr<TextPattern> make_text_pattern(std::string literal);
/// Throws ConfigError when the expression is not understood.
std::unique_ptr<TextPattern> make_regex_pattern(std::string_view expression);
/// Each character that `holds` is a match of its own.
std::unique_ptr<TextPattern> make_character_pattern(bool (*holds)(uint32_t code_point));

/// What becomes of matches when text is cut at them.
enum class CutBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
/// By its name in tokenizer.json. Throws RuntimeError.
CutBehavior cut_behavior(std::string_view name);

/// Cuts `text` at matches, or between them when `inverted`; empty pieces are left out.
std::vector<std::string_view> cut_text(std::string_view text, const std::vector<std::pair<size_t, size_t>>& matches,
                                       CutBehavior behavior, bool inverted);

/// `text` with every match replaced by `content`.
std::string replace_matches(std::string_view text, const TextPattern& pattern, std::string_view content);

}  // namespace pax::data
