#include "pax/data/text_pattern.h"

#include <algorithm>
#include <array>

#include "pax/base/error.h"
#include "pax/data/split_regex.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

using Matches = std::vector<std::pair<size_t, size_t>>;

class LiteralPattern final : public TextPattern {
 public:
  explicit LiteralPattern(std::string literal) : literal_(std::move(literal)) {}
  Matches matches(std::string_view text) const override {
    Matches found;
    if (literal_.empty()) return found;
    for (size_t at = text.find(literal_); at != text.npos; at = text.find(literal_, at + literal_.size())) {
      found.emplace_back(at, at + literal_.size());
    }
    return found;
  }

 private:
  std::string literal_;
};

class RegexPattern final : public TextPattern {
 public:
  explicit RegexPattern(std::string_view expression) : regex_(expression) {}
  Matches matches(std::string_view text) const override {
    Matches found;
    for (size_t at = 0; at < text.size();) {
      const auto match = regex_.find(text, at);
      if (match.first == std::string_view::npos) break;
      found.push_back(match);
      at = match.second;
    }
    return found;
  }

 private:
  SplitRegex regex_;
};

class CharacterPattern final : public TextPattern {
 public:
  explicit CharacterPattern(bool (*holds)(uint32_t)) : holds_(holds) {}
  Matches matches(std::string_view text) const override {
    Matches found;
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = utf8_at(text, at);
      if (holds_(c.code_point)) found.emplace_back(at, at + c.length);
      at += c.length;
    }
    return found;
  }

 private:
  bool (*holds_)(uint32_t);
};

struct Part {
  size_t begin, end;
  bool is_match;
};

/// All of `text`: matches and what lies between.
std::vector<Part> all_parts(std::string_view text, const Matches& matches, bool inverted) {
  std::vector<Part> parts;
  size_t at = 0;
  for (const auto& [begin, end] : matches) {
    if (begin > at) parts.push_back({at, begin, inverted});
    parts.push_back({begin, end, !inverted});
    at = end;
  }
  if (at < text.size()) parts.push_back({at, text.size(), inverted});
  return parts;
}

/// A match that follows a part that is none joins it.
std::vector<Part> joined(std::vector<Part> parts, CutBehavior behavior) {
  const bool backwards = behavior == CutBehavior::kMergedWithNext;
  if (backwards) std::ranges::reverse(parts);
  std::vector<Part> out;
  bool last_was_match = false;
  for (const Part& part : parts) {
    const bool joins =
        behavior == CutBehavior::kContiguous ? part.is_match == last_was_match : part.is_match && !last_was_match;
    if (joins && !out.empty()) {
      out.back().begin = std::min(out.back().begin, part.begin);
      out.back().end = std::max(out.back().end, part.end);
    } else {
      out.push_back(part);
    }
    last_was_match = part.is_match;
  }
  if (backwards) std::ranges::reverse(out);
  return out;
}

}  // namespace

std::unique_ptr<TextPattern> make_text_pattern(std::string literal) {
  return std::make_unique<LiteralPattern>(std::move(literal));
}
std::unique_ptr<TextPattern> make_regex_pattern(std::string_view expression) {
  return std::make_unique<RegexPattern>(expression);
}
std::unique_ptr<TextPattern> make_character_pattern(bool (*holds)(uint32_t)) {
  return std::make_unique<CharacterPattern>(holds);
}

CutBehavior cut_behavior(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, CutBehavior>, 5> kNames{
      {{"Removed", CutBehavior::kRemoved},
       {"Isolated", CutBehavior::kIsolated},
       {"MergedWithPrevious", CutBehavior::kMergedWithPrevious},
       {"MergedWithNext", CutBehavior::kMergedWithNext},
       {"Contiguous", CutBehavior::kContiguous}}};
  for (const auto& [known, behavior] : kNames) {
    if (known == name) return behavior;
  }
  fail<RuntimeError>("behavior {} is not known", name);
}

std::vector<std::string_view> cut_text(std::string_view text, const Matches& matches, CutBehavior behavior,
                                       bool inverted) {
  std::vector<Part> parts = all_parts(text, matches, inverted);
  const bool joins = behavior != CutBehavior::kRemoved && behavior != CutBehavior::kIsolated;
  if (joins) parts = joined(std::move(parts), behavior);
  std::vector<std::string_view> pieces;
  for (const Part& part : parts) {
    if (behavior == CutBehavior::kRemoved && part.is_match) continue;
    if (part.end > part.begin) pieces.push_back(text.substr(part.begin, part.end - part.begin));
  }
  return pieces;
}

std::string replace_matches(std::string_view text, const TextPattern& pattern, std::string_view content) {
  std::string out;
  size_t at = 0;
  for (const auto& [begin, end] : pattern.matches(text)) {
    out.append(text.substr(at, begin - at)).append(content);
    at = end;
  }
  return out.append(text.substr(at));
}

}  // namespace pax::data
