#include "pax/data/hf_normalizer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "pax/data/byte_spelling.h"
#include "pax/data/hf_json.h"
#include "pax/data/precompiled_map.h"
#include "pax/data/text_pattern.h"
#include "pax/data/unicode.h"
#include "pax/data/unicode_forms.h"

namespace pax::data {
namespace {

using nlohmann::json;

/// A normalizer that is one function.
class FunctionNormalizer final : public HfNormalizer {
 public:
  explicit FunctionNormalizer(std::function<std::string(std::string)> function) : function_(std::move(function)) {}
  std::string apply(std::string text) const override { return function_(std::move(text)); }

 private:
  std::function<std::string(std::string)> function_;
};

std::unique_ptr<HfNormalizer> function(std::function<std::string(std::string)> f) {
  return std::make_unique<FunctionNormalizer>(std::move(f));
}

/// Every character as `change` has it; it appends to `out` what is to stand there.
template <class Change>
std::string each_character(std::string_view text, Change change) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    change(c.code_point, text.substr(at, c.length), out);
    at += c.length;
  }
  return out;
}

bool is_chinese(uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// Control, format and private characters as Unicode 8 had them, which is what the library asks.
bool is_control(uint32_t c) {
  constexpr std::array<std::pair<uint32_t, uint32_t>, 21> kRanges{
      {{0x0, 0x1F},        {0x7F, 0x9F},       {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},
       {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x180E, 0x180E},   {0x200B, 0x200F},   {0x202A, 0x202E},
       {0x2060, 0x2064},   {0x2066, 0x206F},   {0xE000, 0xF8FF},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},
       {0x110BD, 0x110BD}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001}, {0xE0020, 0xE007F},
       {0xF0000, 0x10FFFD}}};
  return std::ranges::any_of(kRanges, [c](const auto& range) { return c >= range.first && c <= range.second; });
}

/// BERT's cleaning: control characters go, white space becomes a space.
std::string clean(std::string_view text) {
  return each_character(text, [](uint32_t c, std::string_view itself, std::string& out) {
    const bool blank = c == '\t' || c == '\n' || c == '\r';
    if (c == 0xFFFD || (is_control(c) && !blank)) return;
    if (blank || is_white_space(c)) {
      out.push_back(' ');
    } else {
      out += itself;
    }
  });
}

std::string without_marks(std::string_view text, bool (*is_mark)(uint32_t)) {
  return each_character(text, [&](uint32_t c, std::string_view itself, std::string& out) {
    if (!is_mark(c)) out += itself;
  });
}

std::unique_ptr<HfNormalizer> bert(const json& node) {
  const bool lower = json_flag(node, "lowercase", true);
  const bool cleans = json_flag(node, "clean_text", true);
  const bool chinese = json_flag(node, "handle_chinese_chars", true);
  const bool strips = json_flag(node, "strip_accents", lower);
  return function([=](std::string text) {
    if (cleans) text = clean(text);
    if (chinese) {
      text = each_character(text, [](uint32_t c, std::string_view itself, std::string& out) {
        const bool apart = is_chinese(c);
        if (apart) out.push_back(' ');
        out += itself;
        if (apart) out.push_back(' ');
      });
    }
    if (strips) text = without_marks(normal_form(text, NormalForm::kNfd), is_nonspacing_mark);
    return lower ? lower_case(text) : text;
  });
}

/// SentencePiece's nmt rule: control characters go, kinds of space become a space.
std::string nmt(std::string_view text) {
  return each_character(text, [](uint32_t c, std::string_view itself, std::string& out) {
    if ((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F) return;
    const bool space = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                       c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    if (space) {
      out.push_back(' ');
    } else {
      out += itself;
    }
  });
}

std::string stripped(std::string_view text, bool left, bool right) {
  size_t begin = 0, end = 0;
  bool seen = false;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    if (!is_white_space(c.code_point)) {
      if (!seen) begin = at;
      seen = true;
      end = at + c.length;
    }
    at += c.length;
  }
  if (!seen) return left || right ? "" : std::string(text);
  if (!left) begin = 0;
  if (!right) end = text.size();
  return std::string(text.substr(begin, end - begin));
}

std::unique_ptr<HfNormalizer> replace(const json& node) {
  const json& pattern = json_member(node, "pattern");
  std::shared_ptr<TextPattern> finder;
  if (pattern.is_object() && pattern.contains("Regex")) {
    finder = make_regex_pattern(json_text(pattern, "Regex"));
  } else {
    finder = make_text_pattern(json_text(pattern, "String"));
  }
  return function([finder, content = json_text(node, "content")](const std::string& text) {
    return replace_matches(text, *finder, content);
  });
}

std::unique_ptr<HfNormalizer> sequence(const json& node, int depth) {
  std::vector<std::shared_ptr<HfNormalizer>> steps;
  for (const json& child : json_list(node, "normalizers")) steps.push_back(make_normalizer(child, depth + 1));
  return function([steps](std::string text) {
    for (const auto& step : steps) text = step->apply(std::move(text));
    return text;
  });
}

std::unique_ptr<HfNormalizer> normal(NormalForm form) {
  return function([form](const std::string& text) { return normal_form(text, form); });
}

}  // namespace

std::unique_ptr<HfNormalizer> make_normalizer(const json& node, int depth) {
  if (depth > kMaxJsonDepth) fail<RuntimeError>("normalizers are nested more than {} deep", kMaxJsonDepth);
  const std::string type = json_text(node, "type");
  if (type == "Sequence") return sequence(node, depth);
  if (type == "NFC") return normal(NormalForm::kNfc);
  if (type == "NFD") return normal(NormalForm::kNfd);
  if (type == "NFKC") return normal(NormalForm::kNfkc);
  if (type == "NFKD") return normal(NormalForm::kNfkd);
  if (type == "BertNormalizer") return bert(node);
  if (type == "Lowercase") return function([](const std::string& text) { return lower_case(text); });
  if (type == "Nmt") return function([](const std::string& text) { return nmt(text); });
  if (type == "Replace") return replace(node);
  if (type == "ByteLevel") return function([](const std::string& text) { return spell_bytes(text); });
  if (type == "Prepend") {
    return function(
        [first = json_text(node, "prepend")](std::string text) { return text.empty() ? text : first + text; });
  }
  if (type == "StripAccents") {
    return function([](const std::string& text) {
      return without_marks(text, [](uint32_t c) { return unicode_class(c) == UnicodeClass::kM; });
    });
  }
  if (type == "Strip") {
    return function([left = json_flag(node, "strip_left", true), right = json_flag(node, "strip_right", true)](
                        const std::string& text) { return stripped(text, left, right); });
  }
  if (type == "Precompiled") {
    const auto map = std::make_shared<PrecompiledMap>(decode_base64(json_text(node, "precompiled_charsmap")));
    return function([map](const std::string& text) { return map->apply(text); });
  }
  fail<RuntimeError>("normalizer {} is not supported", type);
}

}  // namespace pax::data
