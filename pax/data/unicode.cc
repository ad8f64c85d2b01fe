#include "pax/data/unicode.h"

#include <algorithm>
#include <iterator>

namespace pax::data {
namespace {

constexpr uint32_t kTable[] = {
#include "pax/data/unicode_table.inc"
};

/// Length of the longest well-formed beginning of a character at `at`: what a decoder takes before it gives up.
uint32_t broken_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : 0; };
  const uint8_t lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 1;
  const uint32_t wanted = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t length = 2;
  while (length < wanted && (byte(length) & 0xC0) == 0x80) ++length;
  return length;
}

}  // namespace

UnicodeClass unicode_class(uint32_t code_point) {
  if (code_point > 0x10FFFF) return UnicodeClass::kC;
  const uint32_t* const after = std::upper_bound(std::begin(kTable), std::end(kTable), code_point << 5 | 31);
  return static_cast<UnicodeClass>(*(after - 1) & 31);
}

bool is_white_space(uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_word_character(uint32_t c) {
  constexpr uint32_t kWord = kLetters | bit(UnicodeClass::kNd) | bit(UnicodeClass::kNl) | bit(UnicodeClass::kM);
  if ((bit(unicode_class(c)) & kWord) != 0 || c == '_' || c == 0x200C || c == 0x200D) return true;
  const bool connector = c == 0x203F || c == 0x2040 || c == 0x2054 || c == 0xFE33 || c == 0xFE34 ||
                         (c >= 0xFE4D && c <= 0xFE4F) || c == 0xFF3F;
  const bool letter_in_a_circle = (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
                                  (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  return connector || letter_in_a_circle;
}

Utf8Char utf8_at(std::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const uint32_t length = broken_length(text, at);
  const uint32_t wanted = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length != wanted || lead < 0xC2) return {kNotACharacter, length};
  uint32_t code_point = lead & (0xFFU >> (wanted + 1));
  for (uint32_t i = 1; i < wanted; ++i) code_point = code_point << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3F);
  return {code_point, wanted};
}

void append_utf8(uint32_t c, std::string& text) {
  const auto put = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | ((c >> 6) & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

std::string repair_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = utf8_at(bytes, at);
    if (c.code_point == kNotACharacter) {
      out += "\xEF\xBF\xBD";
    } else {
      out += bytes.substr(at, c.length);
    }
    at += c.length;
  }
  return out;
}

}  // namespace pax::data
