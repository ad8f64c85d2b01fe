#include "pax/data/split_regex.h"

#include <array>
#include <bitset>
#include <cctype>
#include <limits>
#include <optional>

#include "pax/base/error.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();
constexpr size_t kMaxSteps = 20'000'000;
constexpr size_t kMaxRetries = 1'000'000;
constexpr int kMaxDepth = 50;

/// A set of code points: ranges and Unicode classes, perhaps turned round.
struct CharSet {
  struct Item {
    uint32_t first = 1, last = 0;  ///< code points
    uint32_t classes = 0;          ///< bits of UnicodeClass
    bool space = false;            ///< White_Space
    bool negated = false;          ///< all but this item
  };
  std::vector<Item> items;
  bool negated = false;
  std::bitset<128> ascii;

  bool slow_contains(uint32_t c) const {
    bool inside = false;
    for (const Item& item : items) {
      const bool hit = (c >= item.first && c <= item.last) || (item.space && is_white_space(c)) ||
                       (item.classes != 0 && (item.classes & bit(unicode_class(c))) != 0);
      inside = inside || hit != item.negated;
    }
    return inside != negated;
  }
  bool contains(uint32_t c) const { return c < 128 ? ascii[c] : slow_contains(c); }
  void finish() {
    for (uint32_t c = 0; c < 128; ++c) ascii[c] = slow_contains(c);
  }
};

enum class Kind : uint8_t { kSet, kSequence, kAlternatives, kRepeat, kLookahead, kNotLookahead, kAtomic };
enum class Mode : uint8_t { kGreedy, kLazy, kPossessive };

struct Node {
  Kind kind = Kind::kSequence;
  Mode mode = Mode::kGreedy;
  uint32_t min = 1, max = 1;
  CharSet set;
  std::vector<Node> children;
};

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  Node parse() {
    Node node = alternatives(0);
    if (at_ != pattern_.size()) reject("an unmatched ')'");
    return node;
  }

 private:
  [[noreturn]] void reject(std::string_view what) const {
    fail<ConfigError>("pattern \"{}\", column {}: {}", pattern_, at_ + 1, what);
  }
  bool more() const { return at_ < pattern_.size(); }
  bool take(std::string_view word) {
    if (!pattern_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Node alternatives(int depth) {
    if (depth > kMaxDepth) reject("groups are nested too deep");
    Node node{.kind = Kind::kAlternatives};
    do {
      node.children.push_back(sequence(depth));
    } while (take("|"));
    if (node.children.size() == 1) return std::move(node.children.front());
    return node;
  }

  Node sequence(int depth) {
    Node node;
    while (more() && pattern_[at_] != '|' && pattern_[at_] != ')') node.children.push_back(repeated(depth));
    return node;
  }

  Node repeated(int depth) {
    Node node = atom(depth);
    while (true) {
      uint32_t min = 0;
      uint32_t max = kUnlimited;
      if (take("?")) {
        max = 1;
      } else if (take("+")) {
        min = 1;
      } else if (take("{")) {
        bounds(min, max);
      } else if (!take("*")) {
        return node;
      }
      Node repeat{.kind = Kind::kRepeat, .min = min, .max = max};
      if (take("?")) repeat.mode = Mode::kLazy;
      if (take("+")) repeat.mode = Mode::kPossessive;
      repeat.children.push_back(std::move(node));
      node = std::move(repeat);
    }
  }

  void bounds(uint32_t& min, uint32_t& max) {
    min = number();
    max = min;
    if (take(",")) max = more() && pattern_[at_] != '}' ? number() : kUnlimited;
    if (!take("}")) reject("'}' is expected");
    if (max < min) reject("the bounds are the wrong way round");
  }

  uint32_t number() {
    uint32_t value = 0;
    const size_t start = at_;
    while (more() && pattern_[at_] >= '0' && pattern_[at_] <= '9' && value < 10000) {
      value = value * 10 + static_cast<uint32_t>(pattern_[at_++] - '0');
    }
    if (at_ == start) reject("a number is expected");
    return value;
  }

  Node atom(int depth) {
    if (take("(")) return group(depth);
    if (take("[")) return set_node(char_class());
    CharSet set;
    if (take(".")) {
      set.items.push_back({.first = '\n', .last = '\n'});
      set.negated = true;
    } else if (take("\\")) {
      set.items.push_back(escape());
    } else {
      for (const std::string_view reserved : {"*", "+", "?", "^", "$"}) {
        if (take(reserved)) reject(fmt::format("'{}' is not understood here", reserved));
      }
      const uint32_t c = literal();
      set.items.push_back({.first = c, .last = c});
    }
    return set_node(std::move(set));
  }

  Node set_node(CharSet set) const {
    if (ignore_case_) {
      const std::vector<CharSet::Item> items = set.items;
      for (CharSet::Item item : items) {
        if (item.first == item.last && item.first < 128 && std::isalpha(static_cast<int>(item.first)) != 0) {
          item.first = item.last = item.first ^ 0x20;
          set.items.push_back(item);
        }
        // The only characters outside ASCII that fold to an ASCII letter.
        if (item.first == item.last && (item.first | 0x20) == 's') set.items.push_back({.first = 0x17F, .last = 0x17F});
        if (item.first == item.last && (item.first | 0x20) == 'k')
          set.items.push_back({.first = 0x212A, .last = 0x212A});
      }
    }
    set.finish();
    return Node{.kind = Kind::kSet, .set = std::move(set)};
  }

  Node group(int depth) {
    Kind kind = Kind::kSequence;
    const bool outer_case = ignore_case_;
    if (take("?:")) {
    } else if (take("?i:")) {
      ignore_case_ = true;
    } else if (take("?=")) {
      kind = Kind::kLookahead;
    } else if (take("?!")) {
      kind = Kind::kNotLookahead;
    } else if (take("?>")) {
      kind = Kind::kAtomic;
    } else if (more() && pattern_[at_] == '?') {
      reject("this kind of group is not supported");
    }
    Node node{.kind = kind};
    node.children.push_back(alternatives(depth + 1));
    if (!take(")")) reject("')' is expected");
    ignore_case_ = outer_case;
    return node;
  }

  uint32_t literal() {
    const Utf8Char c = utf8_at(pattern_, at_);
    at_ += c.length;
    return c.code_point;
  }

  CharSet char_class() {
    CharSet set;
    set.negated = take("^");
    bool first = true;
    while (!take("]") || first) {
      if (!more()) reject("']' is expected");
      if (pattern_.substr(at_).starts_with("&&")) reject("intersections of classes are not supported");
      CharSet::Item item;
      if (take("\\")) {
        item = escape();
      } else {
        item.first = item.last = literal();
      }
      const std::string_view rest = pattern_.substr(at_);
      if (item.first == item.last && rest.size() >= 2 && rest[0] == '-' && rest[1] != ']') {
        ++at_;
        item.last = take("\\") ? escape().first : literal();
        if (item.last < item.first) reject("a range is the wrong way round");
      }
      set.items.push_back(item);
      first = false;
    }
    return set;
  }

  CharSet::Item escape() {
    if (!more()) reject("a '\\' at the end");
    const char c = pattern_[at_++];
    const auto one = [](uint32_t code) { return CharSet::Item{.first = code, .last = code}; };
    switch (c) {
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 't':
        return one('\t');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case 's':
      case 'S':
        return {.space = true, .negated = c == 'S'};
      case 'd':
      case 'D':
        return {.classes = bit(UnicodeClass::kNd), .negated = c == 'D'};
      case 'w':
      case 'W':
        return {.first = '_',
                .last = '_',
                .classes = kLetters | bit(UnicodeClass::kM) | bit(UnicodeClass::kNd),
                .negated = c == 'W'};
      case 'p':
      case 'P':
        return property(c == 'P');
      case 'x':
      case 'u':
        return one(hexadecimal(c == 'x' ? 2 : 4));
      default:
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) reject(fmt::format("\\{} is not supported", c));
        return one(static_cast<uint32_t>(static_cast<unsigned char>(c)));
    }
  }

  uint32_t hexadecimal(int digits) {
    const bool braces = take("{");
    uint32_t value = 0;
    for (int i = 0; more() && (braces || i < digits) && std::isxdigit(static_cast<unsigned char>(pattern_[at_])) != 0;
         ++i) {
      const char c = pattern_[at_++];
      value = value * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
      if (value > 0x10FFFF) reject("no such character");
    }
    if (braces && !take("}")) reject("'}' is expected");
    return value;
  }

  CharSet::Item property(bool negated) {
    std::string name(1, more() ? pattern_[at_] : '\0');
    if (take("{")) {
      const size_t end = pattern_.find('}', at_);
      if (end == std::string_view::npos) reject("'}' is expected");
      name = pattern_.substr(at_, end - at_);
      at_ = end + 1;
    } else {
      ++at_;
    }
    if (name.starts_with('^')) {
      negated = !negated;
      name.erase(0, 1);
    }
    using enum UnicodeClass;
    const std::array<std::pair<std::string_view, uint32_t>, 18> kProperties{{{"L", kLetters},
                                                                             {"Letter", kLetters},
                                                                             {"Lu", bit(kLu)},
                                                                             {"Ll", bit(kLl)},
                                                                             {"Lt", bit(kLt)},
                                                                             {"Lm", bit(kLm)},
                                                                             {"Lo", bit(kLo)},
                                                                             {"M", bit(kM)},
                                                                             {"N", kNumbers},
                                                                             {"Number", kNumbers},
                                                                             {"Nd", bit(kNd)},
                                                                             {"Nl", bit(kNl)},
                                                                             {"No", bit(kNo)},
                                                                             {"P", bit(kP)},
                                                                             {"S", bit(kS)},
                                                                             {"Z", bit(kZ)},
                                                                             {"C", bit(kC)},
                                                                             {"Punctuation", bit(kP)}}};
    for (const auto& [known, classes] : kProperties) {
      if (known == name) return {.classes = classes, .negated = negated};
    }
    reject(fmt::format("the property \\p{{{}}} is not supported", name));
  }

  std::string_view pattern_;
  size_t at_ = 0;
  bool ignore_case_ = false;
};

/// An instruction. Sub-programs of lookahead and atomic groups follow it and end with kMatch.
struct Op {
  enum class Code : uint8_t { kSet, kRun, kSplit, kJump, kLookahead, kNotLookahead, kAtomic, kMatch };
  Code code;
  Mode mode = Mode::kGreedy;
  uint32_t min = 0, max = 0;
  uint32_t set = 0;
  size_t first = 0, second = 0;  ///< kSplit: tried in this order. kJump, and what follows a sub-program: first
};

}  // namespace

struct SplitRegex::Program {
  std::vector<Op> ops;
  std::vector<CharSet> sets;

  uint32_t add_set(const CharSet& set) {
    sets.push_back(set);
    return static_cast<uint32_t>(sets.size() - 1);
  }

  void compile(const Node& node) {
    if (ops.size() > 100000) fail<ConfigError>("a split pattern is too large");
    switch (node.kind) {
      case Kind::kSet:
        ops.push_back({.code = Op::Code::kSet, .set = add_set(node.set)});
        return;
      case Kind::kSequence:
        for (const Node& child : node.children) compile(child);
        return;
      case Kind::kAlternatives:
        return compile_alternatives(node);
      case Kind::kRepeat:
        return compile_repeat(node);
      case Kind::kLookahead:
        return compile_sub(Op::Code::kLookahead, node.children.front());
      case Kind::kNotLookahead:
        return compile_sub(Op::Code::kNotLookahead, node.children.front());
      case Kind::kAtomic:
        return compile_sub(Op::Code::kAtomic, node.children.front());
    }
  }

  void compile_sub(Op::Code code, const Node& child) {
    const size_t here = ops.size();
    ops.push_back({.code = code});
    compile(child);
    ops.push_back({.code = Op::Code::kMatch});
    ops[here].first = ops.size();
  }

  void compile_alternatives(const Node& node) {
    std::vector<size_t> jumps;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      const size_t split = ops.size();
      if (!last) ops.push_back({.code = Op::Code::kSplit, .first = split + 1});
      compile(node.children[i]);
      if (last) break;
      jumps.push_back(ops.size());
      ops.push_back({.code = Op::Code::kJump});
      ops[split].second = ops.size();
    }
    for (const size_t jump : jumps) ops[jump].first = ops.size();
  }

  void compile_repeat(const Node& node) {
    const Node& child = node.children.front();
    if (child.kind == Kind::kSet && node.mode != Mode::kLazy) {
      ops.push_back(
          {.code = Op::Code::kRun, .mode = node.mode, .min = node.min, .max = node.max, .set = add_set(child.set)});
      return;
    }
    if (node.mode == Mode::kPossessive) {
      Node greedy = node;
      greedy.mode = Mode::kGreedy;
      return compile_sub(Op::Code::kAtomic, greedy);
    }
    for (uint32_t i = 0; i < node.min; ++i) compile(child);
    const auto optional = [&] {
      const size_t split = ops.size();
      ops.push_back({.code = Op::Code::kSplit});
      compile(child);
      return split;
    };
    const auto set_targets = [&](size_t split, size_t end) {
      ops[split].first = node.mode == Mode::kLazy ? end : split + 1;
      ops[split].second = node.mode == Mode::kLazy ? split + 1 : end;
    };
    if (node.max == kUnlimited) {
      const size_t split = optional();
      ops.push_back({.code = Op::Code::kJump, .first = split});
      return set_targets(split, ops.size());
    }
    std::vector<size_t> splits;
    for (uint32_t i = node.min; i < node.max; ++i) splits.push_back(optional());
    for (const size_t split : splits) set_targets(split, ops.size());
  }

  /// Where to go on when what follows fails: at `pc` with the text at `at`; a run may give characters back down to
  /// `low`.
  struct Retry {
    size_t pc;
    size_t at;
    size_t low;
  };

  std::optional<size_t> match(std::string_view text, size_t at, size_t pc, size_t& steps) const {
    std::vector<Retry> retries;
    while (true) {
      if (++steps > kMaxSteps || retries.size() > kMaxRetries)
        fail<RuntimeError>("a split pattern needs too many steps on this text");
      const Op& op = ops[pc];
      bool ok = true;
      switch (op.code) {
        case Op::Code::kMatch:
          return at;
        case Op::Code::kSet: {
          ok = at < text.size();
          if (!ok) break;
          const Utf8Char c = utf8_at(text, at);
          ok = sets[op.set].contains(c.code_point);
          at += c.length;
          ++pc;
          break;
        }
        case Op::Code::kRun:
          ok = run(op, text, pc, at, retries, steps);
          ++pc;
          break;
        case Op::Code::kSplit:
          retries.push_back({op.second, at, at});
          pc = op.first;
          break;
        case Op::Code::kJump:
          pc = op.first;
          break;
        default: {
          const std::optional<size_t> end = match(text, at, pc + 1, steps);
          ok = end.has_value() != (op.code == Op::Code::kNotLookahead);
          if (ok && op.code == Op::Code::kAtomic) at = *end;
          pc = op.first;
        }
      }
      if (ok) continue;
      if (retries.empty()) return std::nullopt;
      Retry& retry = retries.back();
      pc = retry.pc;
      at = retry.at;
      if (retry.at > retry.low) {
        do {
          --retry.at;
        } while (retry.at > retry.low && (static_cast<uint8_t>(text[retry.at]) & 0xC0) == 0x80);
      } else {
        retries.pop_back();
      }
    }
  }

  bool run(const Op& op, std::string_view text, size_t pc, size_t& at, std::vector<Retry>& retries,
           size_t& steps) const {
    const CharSet& set = sets[op.set];
    uint32_t count = 0;
    size_t low = at;
    while (count < op.max && at < text.size()) {
      const Utf8Char c = utf8_at(text, at);
      if (!set.contains(c.code_point)) break;
      at += c.length;
      if (++count == op.min) low = at;
    }
    steps += count / 8;
    if (count < op.min) return false;
    if (op.mode == Mode::kGreedy && at > low) {
      size_t before = at - 1;
      while (before > low && (static_cast<uint8_t>(text[before]) & 0xC0) == 0x80) --before;
      retries.push_back({pc + 1, before, low});
    }
    return true;
  }
};

SplitRegex::SplitRegex(std::string_view pattern) : program_(std::make_unique<Program>()) {
  program_->compile(Parser(pattern).parse());
  program_->ops.push_back({.code = Op::Code::kMatch});
}
SplitRegex::~SplitRegex() = default;
SplitRegex::SplitRegex(SplitRegex&&) noexcept = default;

std::pair<size_t, size_t> SplitRegex::find(std::string_view text, size_t from) const {
  size_t steps = 0;
  while (from < text.size()) {
    const std::optional<size_t> end = program_->match(text, from, 0, steps);
    if (end && *end > from) return {from, *end};
    from += utf8_at(text, from).length;
  }
  return {std::string_view::npos, std::string_view::npos};
}

}  // namespace pax::data
