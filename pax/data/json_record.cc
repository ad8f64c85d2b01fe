#include <charconv>
#include <cmath>
#include <limits>

#include "pax/base/error.h"
#include "pax/data/example.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

// A scanner over one JSON text: fast on the flat records that data sets are made of, and without recursion, so that
// deep nesting costs no stack.

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[noreturn]] void fail_here(std::string_view what) const { fail<RuntimeError>("JSON, column {}: {}", at_ + 1, what); }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  /// The next character that is no space; '\0' at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool try_take(char wanted) {
    if (peek() != wanted || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void take(char wanted) {
    if (!try_take(wanted)) fail_here(fmt::format("'{}' is expected", wanted));
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  size_t position() const { return at_; }
  std::string_view since(size_t start) const { return text_.substr(start, at_ - start); }

  std::string string() {
    take('"');
    std::string out;
    while (true) {
      const size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<uint8_t>(text_[at_]) >= 0x20) {
        ++at_;
      }
      out += text_.substr(run, at_ - run);
      if (at_ == text_.size()) fail_here("a string is not closed");
      const char c = text_[at_];
      if (static_cast<uint8_t>(c) < 0x20) fail_here("a control character stands bare in a string");
      ++at_;
      if (c == '"') return out;
      escape(out);
    }
  }

  bool word(std::string_view wanted) {
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }

  /// A number's text, checked against JSON's grammar. `whole` tells whether it has no fraction and no exponent.
  std::string_view number(bool& whole) {
    const size_t start = at_;
    whole = true;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    if (at_ < text_.size() && text_[at_] == '0') {
      ++at_;
    } else {
      digits();
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      whole = false;
      ++at_;
      digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      whole = false;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      digits();
    }
    return since(start);
  }

  /// Passes over any value, however deep.
  void skip_value() {
    std::string open;
    do {
      const char c = peek();
      if (c == '{' || c == '[') {
        ++at_;
        open.push_back(c == '{' ? '}' : ']');
        if (!try_take(open.back())) {
          if (c == '{') key();
          continue;
        }
        open.pop_back();
      } else {
        skip_scalar();
      }
      while (!open.empty() && try_take(open.back())) open.pop_back();
      if (open.empty()) return;
      take(',');
      if (open.back() == '}') key();
    } while (true);
  }

 private:
  void key() {
    if (peek() != '"') fail_here("a key in quotes is expected");
    string();
    take(':');
  }

  void skip_scalar() {
    const char c = peek();
    bool whole = false;
    if (c == '"') {
      string();
    } else if (!word("true") && !word("false") && !word("null")) {
      number(whole);
    }
  }

  void digits() {
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    if (at_ == start) fail_here("a value is expected");
  }

  uint32_t hex4() {
    uint32_t value = 0;
    if (text_.size() - at_ < 4) fail_here("\\u needs four digits");
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + 4, value, 16);
    if (error != std::errc() || end != begin + 4) fail_here("\\u needs four digits");
    at_ += 4;
    return value;
  }

  void escape(std::string& out) {
    if (at_ == text_.size()) fail_here("a string is not closed");
    const char c = text_[at_++];
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out.push_back(c);
        return;
      case 'b':
        out.push_back('\b');
        return;
      case 'f':
        out.push_back('\f');
        return;
      case 'n':
        out.push_back('\n');
        return;
      case 'r':
        out.push_back('\r');
        return;
      case 't':
        out.push_back('\t');
        return;
      case 'u':
        return unicode(out);
      default:
        --at_;
        fail_here("an unknown escape");
    }
  }

  /// A code unit; a high and a low surrogate make one character, a lone one becomes U+FFFD.
  void unicode(std::string& out) {
    uint32_t code = hex4();
    if (code >= 0xD800 && code < 0xDC00) {
      const size_t before = at_;
      uint32_t low = 0;
      if (word("\\u")) low = hex4();
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      } else {
        at_ = before;
        code = 0xFFFD;
      }
    } else if (code >= 0xDC00 && code < 0xE000) {
      code = 0xFFFD;
    }
    append_utf8(code, out);
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// A list while it is read: numbers as both types until one decides.
struct ListBuilder {
  Ints ints;
  Floats floats;
  Strings strings;
  bool has_float = false;
  bool other = false;

  void add_number(std::string_view text, bool whole) {
    int64_t integer = 0;
    const char* end = text.data() + text.size();
    if (whole) {
      const auto [stop, error] = std::from_chars(text.data(), end, integer);
      whole = error == std::errc() && stop == end;
    }
    double real = 0;
    if (std::from_chars(text.data(), end, real).ec == std::errc::result_out_of_range) {
      real = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos
                 ? 0.0
                 : std::numeric_limits<double>::infinity();
      if (text.front() == '-') real = -real;
    }
    ints.push_back(integer);
    floats.push_back(static_cast<float>(real));
    has_float = has_float || !whole;
  }

  bool mixed() const { return other || (!strings.empty() && !ints.empty()); }

  Feature finish() {
    if (!strings.empty()) return std::move(strings);
    if (has_float) return std::move(floats);
    return std::move(ints);
  }
};

/// Reads a scalar into `list`; false, and nothing read, for lists, objects and null.
bool read_scalar(Scanner& scanner, ListBuilder& list) {
  const char c = scanner.peek();
  if (c == '[' || c == '{') return false;
  bool whole = false;
  if (c == '"') {
    list.strings.push_back(scanner.string());
  } else if (scanner.word("true")) {
    list.add_number("1", true);
  } else if (scanner.word("false")) {
    list.add_number("0", true);
  } else if (c == 'n') {
    return false;
  } else {
    const std::string_view number = scanner.number(whole);
    list.add_number(number, whole);
  }
  return true;
}

void read_field(Scanner& scanner, std::string name, Example& example) {
  const char c = scanner.peek();
  const size_t start = scanner.position();
  ListBuilder list;
  if (c == 'n' && scanner.word("null")) return;
  if (c == '[') {
    scanner.take('[');
    if (!scanner.try_take(']')) {
      do {
        if (!read_scalar(scanner, list)) {
          list.other = true;
          scanner.skip_value();
        }
      } while (scanner.try_take(','));
      scanner.take(']');
    }
  } else if (!read_scalar(scanner, list)) {
    list.other = true;
    scanner.skip_value();
  }
  if (list.mixed()) return example.set_text(std::move(name), std::string(scanner.since(start)));
  example.set(std::move(name), list.finish());
}

}  // namespace

Example parse_json_record(std::string_view line) {
  Scanner scanner(line);
  Example example;
  scanner.take('{');
  if (!scanner.try_take('}')) {
    do {
      if (scanner.peek() != '"') scanner.fail_here("a key in quotes is expected");
      std::string name = scanner.string();
      scanner.take(':');
      read_field(scanner, std::move(name), example);
    } while (scanner.try_take(','));
    scanner.take('}');
  }
  if (!scanner.at_end()) scanner.fail_here("more follows the object");
  return example;
}

}  // namespace pax::data
