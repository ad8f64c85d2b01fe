#include "pax/data/pretokenizer.h"

#include <array>

#include "pax/data/split_regex.h"
#include "pax/data/unicode.h"

namespace pax::data {

const std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

class RegexPretokenizer final : public Pretokenizer {
 public:
  explicit RegexPretokenizer(std::string_view pattern) : regex_(pattern) {}
  void split(std::string_view text, std::vector<std::string_view>& words) const override {
    size_t at = 0;
    while (at < text.size()) {
      const auto [begin, end] = regex_.find(text, at);
      if (begin == std::string_view::npos) break;
      if (begin > at) words.push_back(text.substr(at, begin - at));
      words.push_back(text.substr(begin, end - begin));
      at = end;
    }
    if (at < text.size()) words.push_back(text.substr(at));
  }

 private:
  SplitRegex regex_;
};

enum class Class : uint8_t { kLetter, kNumber, kSpace, kNewline, kOther };

Class classify(uint32_t c) {
  if (c < 0x80) {
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') return Class::kLetter;
    if (c >= '0' && c <= '9') return Class::kNumber;
    if (c == '\n' || c == '\r') return Class::kNewline;
    return c == ' ' || (c >= 9 && c <= 13) ? Class::kSpace : Class::kOther;
  }
  if (is_white_space(c)) return Class::kSpace;
  const uint32_t classes = bit(unicode_class(c));
  if ((classes & kLetters) != 0) return Class::kLetter;
  return (classes & kNumbers) != 0 ? Class::kNumber : Class::kOther;
}

/// A place in a text with the class of its character.
struct Cursor {
  std::string_view text;
  size_t at = 0;
  Class kind = Class::kOther;
  uint32_t length = 0;

  Cursor(std::string_view all, size_t start) : text(all), at(start) { look(); }
  bool end() const { return at >= text.size(); }
  bool is(Class wanted) const { return !end() && kind == wanted; }
  bool space() const { return !end() && (kind == Class::kSpace || kind == Class::kNewline); }
  void step() {
    at += length;
    look();
  }
  void look() {
    if (end()) return;
    const Utf8Char c = utf8_at(text, at);
    kind = classify(c.code_point);
    length = c.length;
  }
};

/// Length of 's 't 're 've 'm 'll 'd at `at`; 0 when there is none.
size_t contraction(std::string_view text, size_t at, bool any_case) {
  const std::string_view rest = text.substr(at);
  if (rest.size() < 2 || rest[0] != '\'') return 0;
  // U+017F, long s, is an s in any case.
  if (any_case && rest.starts_with("'\xC5\xBF")) return 3;
  const auto low = [&](size_t i) {
    const char c = i < rest.size() ? rest[i] : '\0';
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  };
  const char first = low(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const char second = low(2);
  if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l')) return 3;
  return 0;
}

/// End of a run of white space that is a word: all of it at the end of the text, else all but its last character.
size_t space_run(std::string_view text, size_t start) {
  Cursor cursor(text, start);
  size_t last = start;
  while (cursor.space()) {
    last = cursor.at;
    cursor.step();
  }
  return cursor.end() || last == start ? cursor.at : last;
}

void pass(Cursor& cursor, Class kind) {
  while (cursor.is(kind)) cursor.step();
}

size_t gpt2_word(std::string_view text, size_t start) {
  if (const size_t length = contraction(text, start, false)) return start + length;
  Cursor cursor(text, start);
  if (text[start] == ' ') cursor.step();
  if (!cursor.end() && !cursor.space()) {
    pass(cursor, cursor.kind);
    return cursor.at;
  }
  return space_run(text, start);
}

size_t llama3_word(std::string_view text, size_t start) {
  if (const size_t length = contraction(text, start, true)) return start + length;
  Cursor cursor(text, start);
  // [^\r\n\p{L}\p{N}]?\p{L}+
  Cursor after = cursor;
  if (!after.is(Class::kLetter)) after.step();
  const bool lead = cursor.is(Class::kSpace) || cursor.is(Class::kOther) || cursor.is(Class::kLetter);
  if (lead && after.is(Class::kLetter)) {
    pass(after, Class::kLetter);
    return after.at;
  }
  if (cursor.is(Class::kNumber)) {
    for (int i = 0; i < 3 && cursor.is(Class::kNumber); ++i) cursor.step();
    return cursor.at;
  }
  // ` ?[^\s\p{L}\p{N}]+[\r\n]*`
  Cursor symbol = cursor;
  if (text[start] == ' ') symbol.step();
  if (symbol.is(Class::kOther)) {
    pass(symbol, Class::kOther);
    pass(symbol, Class::kNewline);
    return symbol.at;
  }
  // \s*[\r\n]+ ends at the last line end of the run of spaces.
  size_t line_end = 0;
  for (Cursor run = cursor; run.space();) {
    const bool newline = run.kind == Class::kNewline;
    run.step();
    if (newline) line_end = run.at;
  }
  return line_end != 0 ? line_end : space_run(text, start);
}

class Scanner final : public Pretokenizer {
 public:
  explicit Scanner(size_t (*word_end)(std::string_view, size_t)) : word_end_(word_end) {}
  void split(std::string_view text, std::vector<std::string_view>& words) const override {
    for (size_t at = 0; at < text.size();) {
      const size_t end = word_end_(text, at);
      words.push_back(text.substr(at, end - at));
      at = end;
    }
  }

 private:
  size_t (*word_end_)(std::string_view, size_t);
};

}  // namespace

std::unique_ptr<Pretokenizer> make_regex_pretokenizer(std::string_view pattern) {
  return std::make_unique<RegexPretokenizer>(pattern);
}

std::unique_ptr<Pretokenizer> make_split_pretokenizer(std::string_view pattern) {
  if (pattern == kGpt2Pattern) return std::make_unique<Scanner>(gpt2_word);
  if (pattern == kLlama3Pattern) return std::make_unique<Scanner>(llama3_word);
  return make_regex_pretokenizer(pattern);
}

}  // namespace pax::data
