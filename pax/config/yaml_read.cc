#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/yaml.h"

namespace pax::config {

namespace {

[[noreturn]] void fail_at(std::string_view source, int line, std::string_view message) {
  fail<ConfigError>("{}:{}: {}", source.empty() ? "line" : source, line, message);
}

/// A plain (unquoted) scalar as YAML's core schema and Python read it.
Value resolve_plain(const std::string& text) {
  Value value = Value::of(std::string_view(text));
  value.quoted = false;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL" || text == "None") return {};
  if (text == "true" || text == "True" || text == "TRUE" || text == "false" || text == "False" || text == "FALSE") {
    value.kind = Value::Kind::kBool;
    value.boolean = text[0] == 't' || text[0] == 'T';
    return value;
  }
  const char* begin = text.data();
  const char* const end = begin + text.size();
  if (*begin == '+') ++begin;
  const bool negative = *begin == '-';
  const char* digits = begin + (negative ? 1 : 0);
  if (digits == end) return value;
  int base = 10;
  if (!negative && end - digits > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'o')) {
    base = digits[1] == 'x' ? 16 : 8;
    begin = digits = digits + 2;
  }
  if (base == 10 && !std::isdigit(static_cast<unsigned char>(*digits)) && *digits != '.') return value;
  const auto [int_end, int_error] = std::from_chars(begin, end, value.integer, base);
  if (int_end == end && int_error == std::errc()) {
    value.kind = Value::Kind::kInt;
    value.real = static_cast<double>(value.integer);
    return value;
  }
  if (base != 10) return value;
  std::string_view rest(digits, end);
  if (rest == ".inf" || rest == ".Inf" || rest == ".INF") {
    value.kind = Value::Kind::kReal;
    value.real = negative ? -INFINITY : INFINITY;
    value.text = exact_double(value.real);
    return value;
  }
  if (rest == ".nan" || rest == ".NaN" || rest == ".NAN") {
    value.kind = Value::Kind::kReal;
    value.real = NAN;
    return value;
  }
  if (rest == "." || rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return value;
  const auto [real_end, real_error] = std::from_chars(begin, end, value.real);
  if (real_end != end) return value;
  if (real_error == std::errc::result_out_of_range) {
    const bool tiny = text.find("e-") != std::string::npos || text.find("E-") != std::string::npos;
    value.real = tiny ? 0 : negative ? -INFINITY : INFINITY;
  } else if (real_error != std::errc()) {
    return value;
  }
  value.kind = Value::Kind::kReal;
  return value;
}

/// Builds the Value tree from the parser's events.
class Builder final : public YAML::EventHandler {
 public:
  Builder(std::string_view source, const ReadLimits& limits) : source_(source), limits_(limits) {}

  Value take() { return std::move(root_); }
  int documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail_at(source_, mark.line + 1, "a second document begins here; one file holds one config");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, anchor, {}); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    check_tag(mark, tag);
    const bool is_text = tag == "!" || tag == "tag:yaml.org,2002:str";
    scalar(mark, anchor, is_text ? Value::of(std::string_view(text)) : resolve_plain(text));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail_at(source_, mark.line + 1, "an alias inside the value that it names is a loop");
    count(mark, found->second);
    Value value = found->second;
    put(mark, std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open(mark, anchor, Value::list());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    check_tag(mark, tag);
    open(mark, anchor, Value::map());
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Value value;
    YAML::Mark mark;
    bool has_key = false;
    std::unordered_set<std::string> keys;
  };

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    static constexpr std::string_view kYaml = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "?" || tag == "!") return;
    if (tag.starts_with(kYaml)) {
      const std::string_view name = std::string_view(tag).substr(kYaml.size());
      for (const char* known : {"str", "int", "float", "bool", "null", "seq", "map"}) {
        if (name == known) return;
      }
    }
    fail_at(source_, mark.line + 1, fmt::format("the tag {} has no meaning here; classes are named by __class__", tag));
  }

  void count(const YAML::Mark& mark, const Value& value) {
    if (++values_ > limits_.values) {
      fail_at(source_, mark.line + 1, fmt::format("more than {} values, aliases expanded", limits_.values));
    }
    text_bytes_ += value.text.size();
    if (text_bytes_ > 8 * limits_.bytes) {
      fail_at(source_, mark.line + 1, fmt::format("more than {} bytes of text, aliases expanded", 8 * limits_.bytes));
    }
    for (const Value& item : value.items) count(mark, item);
  }

  void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    value.line = mark.line + 1;
    count(mark, value);
    remember(mark, anchor, value);
    put(mark, std::move(value));
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    value.line = mark.line + 1;
    value.anchor = static_cast<int>(anchor);
    count(mark, value);
    if (static_cast<int>(frames_.size()) >= limits_.depth) {
      fail_at(source_, mark.line + 1, fmt::format("nested deeper than {} levels", limits_.depth));
    }
    frames_.push_back({std::move(value), mark});
  }

  void close() {
    const YAML::Mark mark = frames_.back().mark;
    Value value = std::move(frames_.back().value);
    frames_.pop_back();
    remember(mark, static_cast<YAML::anchor_t>(value.anchor), value);
    put(mark, std::move(value));
  }

  void remember(const YAML::Mark& mark, YAML::anchor_t anchor, Value& value) {
    if (anchor == 0) return;
    count(mark, value);
    value.anchor = static_cast<int>(anchor);
    anchors_[anchor] = value;
  }

  void put(const YAML::Mark& mark, Value value) {
    if (frames_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.value.is_map() && !frame.has_key) {
      put_key(mark, frame, value);
      return;
    }
    frame.has_key = false;
    frame.value.items.push_back(std::move(value));
  }

  void put_key(const YAML::Mark& mark, Frame& frame, const Value& key) {
    if (!key.is_scalar() || key.is_null()) {
      fail_at(source_, mark.line + 1, fmt::format("a key must be a name, not {}", describe(key)));
    }
    if (!frame.keys.insert(key.text).second) {
      fail_at(source_, mark.line + 1, fmt::format("the key {} stands twice in one mapping", json_quote(key.text)));
    }
    frame.value.keys.push_back(key.text);
    frame.has_key = true;
  }

  std::string_view source_;
  const ReadLimits& limits_;
  Value root_;
  std::vector<Frame> frames_;
  std::unordered_map<YAML::anchor_t, Value> anchors_;
  size_t values_ = 0;
  size_t text_bytes_ = 0;
  int documents_ = 0;
};

/// JSON writes characters beyond 16 bits as two escapes; YAML has one escape of 32 bits.
std::string join_surrogates(std::string_view text) {
  const auto code = [&](size_t at) -> int {
    unsigned value = 0;
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return -1;
    const auto [end, error] = std::from_chars(text.data() + at + 2, text.data() + at + 6, value, 16);
    return error == std::errc() && end == text.data() + at + 6 ? static_cast<int>(value) : -1;
  };
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const int high = text[at] == '\\' ? code(at) : -1;
    const int low = high >= 0xD800 && high < 0xDC00 ? code(at + 6) : -1;
    if (low >= 0xDC00 && low < 0xE000) {
      out += fmt::format("\\U{:08x}", 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
      at += 12;
    } else if (text[at] == '\\' && at + 1 < text.size()) {
      out.append(text.substr(at, 2));
      at += 2;
    } else {
      out += text[at++];
    }
  }
  return out;
}

int line_of(std::string_view text, size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

void check_bytes(std::string_view text, std::string_view source, const ReadLimits& limits) {
  if (text.size() > limits.bytes) {
    fail<ConfigError>("{}: {} bytes are too many for a config; the limit is {}", source.empty() ? "the text" : source,
                      text.size(), limits.bytes);
  }
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    fail_at(source, line_of(text, nul), "a NUL byte; this is not a text file");
  }
  if (is_utf8(text)) return;
  size_t begin = 0;  // the first line that is wrong
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (!is_utf8(text.substr(begin, end - begin))) break;
    begin = end + 1;
  }
  fail_at(source, line_of(text, std::min(begin, text.size())), "not well-formed UTF-8");
}

}  // namespace

Value read_yaml(std::string_view text, std::string_view source, const ReadLimits& limits) {
  check_bytes(text, source, limits);
  const bool pairs = text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos;
  std::istringstream stream(pairs ? join_surrogates(text) : std::string(text));
  Builder builder(source, limits);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    fail_at(source, error.mark.line + 1, error.msg);
  }
  return builder.take();
}

}  // namespace pax::config
