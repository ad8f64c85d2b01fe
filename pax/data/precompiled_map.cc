#include "pax/data/precompiled_map.h"

#include <cstring>

#include "pax/base/error.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

// A unit of the trie (darts-clone): label in the low byte and bit 31, bit 8 says that a value hangs below, the rest is
// the distance to the children.
uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }
uint32_t label_of(uint32_t unit) { return unit & (1U << 31 | 0xFF); }
bool has_value(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t value_of(uint32_t unit) { return unit & ~(1U << 31); }

bool extends(uint32_t c) {
  return (c >= 0x300 && unicode_class(c) == UnicodeClass::kM) || c == 0x200C || c == 0x200D || c == 0xFF9E ||
         c == 0xFF9F || (c >= 0x1F3FB && c <= 0x1F3FF);
}

enum class Hangul { kNone, kL, kV, kT, kLv, kLvt };
Hangul hangul(uint32_t c) {
  if ((c >= 0x1100 && c <= 0x115F) || (c >= 0xA960 && c <= 0xA97C)) return Hangul::kL;
  if ((c >= 0x1160 && c <= 0x11A7) || (c >= 0xD7B0 && c <= 0xD7C6)) return Hangul::kV;
  if ((c >= 0x11A8 && c <= 0x11FF) || (c >= 0xD7CB && c <= 0xD7FB)) return Hangul::kT;
  if (c < 0xAC00 || c > 0xD7A3) return Hangul::kNone;
  return (c - 0xAC00) % 28 == 0 ? Hangul::kLv : Hangul::kLvt;
}

bool hangul_joins(uint32_t a, uint32_t b) {
  const Hangul first = hangul(a), second = hangul(b);
  if (first == Hangul::kNone || second == Hangul::kNone) return false;
  if (first == Hangul::kL) return second != Hangul::kT;
  if (first == Hangul::kLv || first == Hangul::kV) return second == Hangul::kV || second == Hangul::kT;
  return second == Hangul::kT;
}

bool is_flag_letter(uint32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }
bool stands_alone(uint32_t c) {
  return c != 0x200C && c != 0x200D && (unicode_class(c) == UnicodeClass::kC || c == 0x2028 || c == 0x2029);
}

/// End of the grapheme cluster that begins at `at` (Unicode Standard Annex 29, without the rules of rare scripts).
size_t cluster_end(std::string_view text, size_t at) {
  Utf8Char last = utf8_at(text, at);
  size_t end = at + last.length;
  if (last.code_point == '\r' && end < text.size() && text[end] == '\n') return end + 1;
  if (stands_alone(last.code_point)) return end;
  bool flag_open = is_flag_letter(last.code_point);
  while (end < text.size()) {
    const Utf8Char c = utf8_at(text, end);
    const bool joins =
        extends(c.code_point) || hangul_joins(last.code_point, c.code_point) ||
        (flag_open && is_flag_letter(c.code_point)) ||
        (last.code_point == 0x200D && c.code_point >= 0x2190 && unicode_class(c.code_point) == UnicodeClass::kS);
    if (!joins) break;
    flag_open = false;
    end += c.length;
    last = c;
  }
  return end;
}

}  // namespace

PrecompiledMap::PrecompiledMap(std::string_view bytes) {
  uint32_t size = 0;
  if (bytes.size() < 4) fail<RuntimeError>("the precompiled map has only {} bytes", bytes.size());
  std::memcpy(&size, bytes.data(), 4);
  if (size % 4 != 0 || size == 0 || size > bytes.size() - 4) {
    fail<RuntimeError>("the precompiled map claims a trie of {} bytes but has {}", size, bytes.size() - 4);
  }
  trie_.resize(size / 4);
  std::memcpy(trie_.data(), bytes.data() + 4, size);
  forms_ = bytes.substr(4 + size);
}

bool PrecompiledMap::replace(std::string_view key, std::string& out) const {
  size_t at = offset_of(trie_[0]);
  for (const char c : key) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte == 0) return false;
    at ^= byte;
    if (at >= trie_.size() || label_of(trie_[at]) != byte) return false;
    const uint32_t unit = trie_[at];
    at ^= offset_of(unit);
    if (!has_value(unit)) continue;
    if (at >= trie_.size()) return false;
    const uint32_t form = value_of(trie_[at]);
    if (form >= forms_.size()) return false;
    const size_t end = forms_.find('\0', form);
    out.append(forms_, form, (end == std::string::npos ? forms_.size() : end) - form);
    return true;
  }
  return false;
}

std::string PrecompiledMap::apply(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = cluster_end(text, at);
    if (end - at < 6 && replace(text.substr(at, end - at), out)) {
      at = end;
      continue;
    }
    while (at < end) {
      const std::string_view character = text.substr(at, utf8_at(text, at).length);
      if (!replace(character, out)) out += character;
      at += character.size();
    }
  }
  return out;
}

std::string decode_base64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == '+') value = 62;
    if (c == '/') value = 63;
    if (value < 0) fail<RuntimeError>("'{}' does not belong into base64", c);
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  return out;
}

}  // namespace pax::data
