#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pax::data {

/// General categories, those that no tokenizer tells apart put together (marks, punctuation, symbols, separators,
/// rest).
enum class UnicodeClass : uint8_t { kLu, kLl, kLt, kLm, kLo, kM, kNd, kNl, kNo, kP, kS, kZ, kC };

/// A set of classes as bits.
constexpr uint32_t bit(UnicodeClass c) { return 1U << static_cast<int>(c); }
inline constexpr uint32_t kLetters = bit(UnicodeClass::kLu) | bit(UnicodeClass::kLl) | bit(UnicodeClass::kLt) |
                                     bit(UnicodeClass::kLm) | bit(UnicodeClass::kLo);
inline constexpr uint32_t kNumbers = bit(UnicodeClass::kNd) | bit(UnicodeClass::kNl) | bit(UnicodeClass::kNo);

/// Class of a code point in Unicode 16; kC for what is no code point.
UnicodeClass unicode_class(uint32_t code_point);

/// The property White_Space.
bool is_white_space(uint32_t code_point);

/// A character of words: alphabetic, mark, decimal digit, connector or joiner (Unicode Technical Standard 18, annex C).
bool is_word_character(uint32_t code_point);

inline constexpr uint32_t kNotACharacter = 0xFFFFFFFF;

struct Utf8Char {
  uint32_t code_point;  ///< kNotACharacter for a byte that starts no well-formed character
  uint32_t length;      ///< bytes taken, at least 1
};

/// The character at `at`, which must be inside `text`.
Utf8Char utf8_at(std::string_view text, size_t at);

/// Appends a code point.
void append_utf8(uint32_t code_point, std::string& text);

/// `bytes` with each maximal broken sequence replaced by U+FFFD (the practice the Unicode standard recommends).
std::string repair_utf8(std::string_view bytes);

}  // namespace pax::data
