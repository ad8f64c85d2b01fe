#include "pax/data/hf_pretokenizer.h"

#include <algorithm>
#include <array>

#include "pax/data/byte_spelling.h"
#include "pax/data/hf_json.h"
#include "pax/data/pretokenizer.h"
#include "pax/data/text_pattern.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

using nlohmann::json;

/// Cuts every piece by itself.
class Cutter : public HfPretokenizer {
 public:
  void apply(TextPieces& text) const final {
    std::vector<std::string_view> pieces;
    pieces.reserve(text.pieces.size());
    for (const std::string_view piece : text.pieces) cut(piece, pieces);
    text.pieces = std::move(pieces);
  }

 private:
  virtual void cut(std::string_view piece, std::vector<std::string_view>& out) const = 0;
};

/// Split with any behavior.
class PatternCutter final : public Cutter {
 public:
  PatternCutter(std::unique_ptr<TextPattern> pattern, CutBehavior behavior, bool inverted)
      : pattern_(std::move(pattern)), behavior_(behavior), inverted_(inverted) {}

 private:
  void cut(std::string_view piece, std::vector<std::string_view>& out) const override {
    const auto cuts = cut_text(piece, pattern_->matches(piece), behavior_, inverted_);
    out.insert(out.end(), cuts.begin(), cuts.end());
  }
  std::unique_ptr<TextPattern> pattern_;
  CutBehavior behavior_;
  bool inverted_;
};

/// The frequent case: matches and what lies between, each by itself.
class ScannerCutter final : public Cutter {
 public:
  explicit ScannerCutter(std::string_view expression) : scanner_(make_split_pretokenizer(expression)) {}

 private:
  void cut(std::string_view piece, std::vector<std::string_view>& out) const override { scanner_->split(piece, out); }
  std::unique_ptr<Pretokenizer> scanner_;
};

/// Runs of word characters, and runs of what is neither these nor white space.
class WordCutter final : public Cutter {
  void cut(std::string_view piece, std::vector<std::string_view>& out) const override {
    enum class Kind { kSpace, kWord, kOther };
    Kind last = Kind::kSpace;
    size_t begin = 0;
    const auto end_run = [&](size_t end) {
      if (last != Kind::kSpace && end > begin) out.push_back(piece.substr(begin, end - begin));
      begin = end;
    };
    for (size_t at = 0; at < piece.size();) {
      const Utf8Char c = utf8_at(piece, at);
      const Kind kind = is_white_space(c.code_point)      ? Kind::kSpace
                        : is_word_character(c.code_point) ? Kind::kWord
                                                          : Kind::kOther;
      if (kind != last) end_run(at);
      last = kind;
      at += c.length;
    }
    end_run(piece.size());
  }
};

class FixedLengthCutter final : public Cutter {
 public:
  explicit FixedLengthCutter(int64_t length) : length_(length) {
    if (length < 1) fail<RuntimeError>("FixedLength has length {}", length);
  }

 private:
  void cut(std::string_view piece, std::vector<std::string_view>& out) const override {
    for (size_t at = 0; at < piece.size();) {
      size_t end = at;
      for (int64_t i = 0; i < length_ && end < piece.size(); ++i) end += utf8_at(piece, end).length;
      out.push_back(piece.substr(at, end - at));
      at = end;
    }
  }
  int64_t length_;
};

std::unique_ptr<HfPretokenizer> cutter(std::unique_ptr<TextPattern> pattern, CutBehavior behavior,
                                       bool inverted = false) {
  return std::make_unique<PatternCutter>(std::move(pattern), behavior, inverted);
}

bool is_numeric(uint32_t c) { return (bit(unicode_class(c)) & kNumbers) != 0; }
/// Punctuation that came after Unicode 8, which is what the library asks.
bool is_newer_punctuation(uint32_t c) {
  constexpr std::array<std::pair<uint32_t, uint32_t>, 34> kRanges{
      {{0x61D, 0x61D},     {0x9FD, 0x9FD},     {0xA76, 0xA76},     {0xC77, 0xC77},     {0xC84, 0xC84},
       {0x1B4E, 0x1B4F},   {0x1B7D, 0x1B7F},   {0x2E43, 0x2E4F},   {0x2E52, 0x2E5D},   {0x10D6E, 0x10D6E},
       {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59}, {0x10F86, 0x10F89}, {0x113D4, 0x113D8}, {0x1144B, 0x1144F},
       {0x1145A, 0x1145D}, {0x11660, 0x1166C}, {0x116B9, 0x116B9}, {0x1183B, 0x1183B}, {0x11944, 0x11946},
       {0x119E2, 0x119E2}, {0x11A3F, 0x11A46}, {0x11A9A, 0x11AA2}, {0x11B00, 0x11B09}, {0x11BE1, 0x11BE1},
       {0x11C41, 0x11C45}, {0x11C70, 0x11C71}, {0x11EF7, 0x11EF8}, {0x11F43, 0x11FFF}, {0x12FF1, 0x12FF2},
       {0x16D6D, 0x16E9A}, {0x16FE2, 0x16FE2}, {0x1E5FF, 0x1E5FF}, {0x1E95E, 0x1E95F}}};
  return std::ranges::any_of(kRanges, [c](const auto& range) { return c >= range.first && c <= range.second; });
}

bool is_punctuation(uint32_t c) {
  if (c < 0x80) return c > 0x20 && c < 0x7F && !(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  return (unicode_class(c) == UnicodeClass::kP && !is_newer_punctuation(c)) || c == 0x166D;
}

/// One pre-tokenizer after the other.
class Sequence final : public HfPretokenizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<HfPretokenizer>> steps) : steps_(std::move(steps)) {}
  void apply(TextPieces& text) const override {
    for (const auto& step : steps_) step->apply(text);
  }

 private:
  std::vector<std::unique_ptr<HfPretokenizer>> steps_;
};

class ByteLevel final : public HfPretokenizer {
 public:
  ByteLevel(const json& node, ByteLevelForm form)
      : add_prefix_space_(json_flag(node, "add_prefix_space", true)),
        use_regex_(json_flag(node, "use_regex", true)),
        form_(form),
        words_(make_split_pretokenizer(kGpt2Pattern)) {}

  void apply(TextPieces& text) const override {
    std::vector<std::string_view> pieces;
    pieces.reserve(text.pieces.size());
    for (std::string_view piece : text.pieces) {
      if (add_prefix_space_ && !piece.starts_with(' ')) piece = text.kept.emplace_back(" " + std::string(piece));
      if (use_regex_) {
        words_->split(piece, pieces);
      } else {
        pieces.push_back(piece);
      }
    }
    if (form_ == ByteLevelForm::kSpelled) {
      for (std::string_view& piece : pieces) piece = text.kept.emplace_back(spell_bytes(piece));
    }
    text.pieces = std::move(pieces);
  }

 private:
  bool add_prefix_space_, use_regex_;
  ByteLevelForm form_;
  std::unique_ptr<Pretokenizer> words_;
};

/// Spaces become a visible character, and each word begins with it.
class Metaspace final : public HfPretokenizer {
 public:
  explicit Metaspace(const json& node)
      : mark_(json_text_or(node, "replacement", "\xE2\x96\x81")), split_(json_flag(node, "split", true)) {
    std::string scheme = json_text_or(node, "prepend_scheme", "always");
    if (!json_flag(node, "add_prefix_space", true) && !json_has(node, "prepend_scheme")) scheme = "never";
    always_ = scheme == "always";
    first_ = scheme == "first";
    if (!always_ && !first_ && scheme != "never") fail<RuntimeError>("Metaspace with prepend_scheme {}", scheme);
    spaces_ = make_text_pattern(" ");
    marks_ = make_text_pattern(mark_);
  }

  void apply(TextPieces& text) const override {
    std::vector<std::string_view> pieces;
    bool is_start = text.at_start;
    for (const std::string_view piece : text.pieces) {
      std::string marked = replace_matches(piece, *spaces_, mark_);
      if ((always_ || (first_ && is_start)) && !marked.starts_with(mark_)) marked.insert(0, mark_);
      is_start = false;
      const std::string_view kept = text.kept.emplace_back(std::move(marked));
      if (!split_) {
        pieces.push_back(kept);
        continue;
      }
      const auto cuts = cut_text(kept, marks_->matches(kept), CutBehavior::kMergedWithNext, false);
      pieces.insert(pieces.end(), cuts.begin(), cuts.end());
    }
    text.pieces = std::move(pieces);
  }

 private:
  std::string mark_;
  bool split_;
  bool always_ = true, first_ = false;
  std::unique_ptr<TextPattern> spaces_, marks_;
};

std::unique_ptr<HfPretokenizer> split(const json& node) {
  const json& pattern = json_member(node, "pattern");
  const CutBehavior behavior = cut_behavior(json_text(node, "behavior"));
  const bool inverted = json_flag(node, "invert", false);
  if (!pattern.is_object() || !pattern.contains("Regex")) {
    return cutter(make_text_pattern(json_text(pattern, "String")), behavior, inverted);
  }
  const std::string expression = json_text(pattern, "Regex");
  // Of a part between matches it does not matter that it is none.
  if (behavior == CutBehavior::kIsolated) return std::make_unique<ScannerCutter>(expression);
  return cutter(make_regex_pattern(expression), behavior, inverted);
}

std::unique_ptr<HfPretokenizer> sequence(const json& node, ByteLevelForm form, int depth) {
  std::vector<std::unique_ptr<HfPretokenizer>> steps;
  for (const json& child : json_list(node, "pretokenizers")) steps.push_back(make_pretokenizer(child, form, depth + 1));
  return std::make_unique<Sequence>(std::move(steps));
}

std::unique_ptr<HfPretokenizer> bert() {
  std::vector<std::unique_ptr<HfPretokenizer>> steps;
  steps.push_back(cutter(make_character_pattern(is_white_space), CutBehavior::kRemoved));
  steps.push_back(cutter(make_character_pattern(is_punctuation), CutBehavior::kIsolated));
  return std::make_unique<Sequence>(std::move(steps));
}

}  // namespace

std::unique_ptr<HfPretokenizer> make_pretokenizer(const json& node, ByteLevelForm form, int depth) {
  if (depth > kMaxJsonDepth) fail<RuntimeError>("pre-tokenizers are nested more than {} deep", kMaxJsonDepth);
  const std::string type = json_text(node, "type");
  if (type == "Sequence") return sequence(node, form, depth);
  if (type == "ByteLevel") return std::make_unique<ByteLevel>(node, form);
  if (type == "Metaspace") return std::make_unique<Metaspace>(node);
  if (type == "Split") return split(node);
  if (type == "BertPreTokenizer") return bert();
  if (type == "WhitespaceSplit") return cutter(make_character_pattern(is_white_space), CutBehavior::kRemoved);
  if (type == "Whitespace") return std::make_unique<WordCutter>();
  if (type == "Digits") {
    const bool single = json_flag(node, "individual_digits", false);
    return cutter(make_character_pattern(is_numeric), single ? CutBehavior::kIsolated : CutBehavior::kContiguous);
  }
  if (type == "Punctuation") {
    return cutter(make_character_pattern(is_punctuation), cut_behavior(json_text_or(node, "behavior", "Isolated")));
  }
  if (type == "CharDelimiterSplit")
    return cutter(make_text_pattern(json_text(node, "delimiter")), CutBehavior::kRemoved);
  if (type == "FixedLength") return std::make_unique<FixedLengthCutter>(json_number(node, "length", 5));
  fail<RuntimeError>("pre-tokenizer {} is not supported", type);
}

bool ends_in_byte_level(const json& node) {
  if (!node.is_object()) return false;
  const std::string type = json_text_or(node, "type", "");
  if (type == "ByteLevel") return true;
  if (type != "Sequence" || !node.contains("pretokenizers") || !node.at("pretokenizers").is_array()) return false;
  const json& steps = node.at("pretokenizers");
  if (steps.empty() || !ends_in_byte_level(steps.back())) return false;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    if (ends_in_byte_level(steps[i])) return false;
  }
  return true;
}

}  // namespace pax::data
