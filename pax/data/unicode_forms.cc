#include "pax/data/unicode_forms.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_map>
#include <vector>

#include "pax/data/unicode.h"

namespace pax::data {
namespace {

#include "pax/data/unicode_forms.inc"

// Hangul syllables are made by rule: 19 leading consonants, 21 vowels, 27 trailing consonants or none.
constexpr uint32_t kSyllables = 0xAC00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
constexpr uint32_t kNumLeading = 19, kNumVowels = 21, kNumTrailing = 28;
constexpr uint32_t kNumSyllables = kNumLeading * kNumVowels * kNumTrailing;

constexpr uint32_t kCompatible = 1U << 31, kComposes = 1U << 30;

/// The value at `c` of a table of code point << 8 | value.
uint32_t run_value(std::span<const uint32_t> table, uint32_t c) {
  const auto after = std::upper_bound(table.begin(), table.end(), c << 8 | 0xFF);
  return after == table.begin() ? 0 : *(after - 1) & 0xFF;
}

uint32_t combining_class(uint32_t c) { return c < 0x300 ? 0 : run_value(kCombiningClasses, c); }

/// Index into kDecompositions of `c`, or its size.
size_t find_decomposition(uint32_t c) {
  size_t low = 0, high = std::size(kDecompositions) / 2;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const uint32_t at = kDecompositions[2 * middle] & ~(kCompatible | kComposes);
    if (at == c) return 2 * middle;
    (at < c ? low : high) = at < c ? middle + 1 : middle;
  }
  return std::size(kDecompositions);
}

void decompose(uint32_t c, bool compatible, std::vector<uint32_t>& out) {
  if (c < 0xA0) return out.push_back(c);
  if (c - kSyllables < kNumSyllables) {
    const uint32_t index = c - kSyllables;
    out.push_back(kLeading + index / (kNumVowels * kNumTrailing));
    out.push_back(kVowels + index % (kNumVowels * kNumTrailing) / kNumTrailing);
    if (index % kNumTrailing != 0) out.push_back(kTrailing + index % kNumTrailing);
    return;
  }
  const size_t found = find_decomposition(c);
  if (found == std::size(kDecompositions) || ((kDecompositions[found] & kCompatible) != 0 && !compatible)) {
    return out.push_back(c);
  }
  const uint32_t where = kDecompositions[found + 1];
  for (uint32_t i = 0; i < (where & 0xFF); ++i) decompose(kParts[(where >> 8) + i], compatible, out);
}

/// Marks after each starter in order of their class.
void order_marks(std::vector<uint32_t>& text) {
  for (size_t at = 0; at < text.size();) {
    if (combining_class(text[at]) == 0) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<int64_t>(at), text.begin() + static_cast<int64_t>(end),
                     [](uint32_t a, uint32_t b) { return combining_class(a) < combining_class(b); });
    at = end;
  }
}

const std::unordered_map<uint64_t, uint32_t>& compositions() {
  static const std::unordered_map<uint64_t, uint32_t> table = [] {
    std::unordered_map<uint64_t, uint32_t> made;
    for (size_t i = 0; i < std::size(kDecompositions); i += 2) {
      if ((kDecompositions[i] & kComposes) == 0) continue;
      const uint32_t* const parts = kParts + (kDecompositions[i + 1] >> 8);
      made[uint64_t{parts[0]} << 32 | parts[1]] = kDecompositions[i] & ~kComposes;
    }
    return made;
  }();
  return table;
}

/// The character that two compose to; 0 when there is none.
uint32_t composed(uint32_t first, uint32_t second) {
  if (first - kLeading < kNumLeading && second - kVowels < kNumVowels) {
    return kSyllables + ((first - kLeading) * kNumVowels + (second - kVowels)) * kNumTrailing;
  }
  if (first - kSyllables < kNumSyllables && (first - kSyllables) % kNumTrailing == 0 &&
      second - kTrailing - 1 < kNumTrailing - 1) {
    return first + (second - kTrailing);
  }
  const auto found = compositions().find(uint64_t{first} << 32 | second);
  return found == compositions().end() ? 0 : found->second;
}

void compose(std::vector<uint32_t>& text) {
  size_t kept = 0;
  size_t starter = text.size();  // place of the last starter among what is kept
  uint32_t last_class = 0;
  for (const uint32_t c : text) {
    const uint32_t its_class = combining_class(c);
    if (starter < kept) {
      const bool adjacent = starter + 1 == kept;
      const bool blocked = !adjacent && (last_class == 0 || last_class >= its_class);
      const uint32_t whole = blocked ? 0 : composed(text[starter], c);
      if (whole != 0) {
        text[starter] = whole;
        continue;
      }
    }
    if (its_class == 0) starter = kept;
    last_class = its_class;
    text[kept++] = c;
  }
  text.resize(kept);
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

}  // namespace

std::string normal_form(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  const bool compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  std::vector<uint32_t> characters;
  characters.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    decompose(c.code_point == kNotACharacter ? 0xFFFD : c.code_point, compatible, characters);
    at += c.length;
  }
  order_marks(characters);
  if (form == NormalForm::kNfc || form == NormalForm::kNfkc) compose(characters);
  std::string out;
  out.reserve(text.size());
  for (const uint32_t c : characters) append_utf8(c, out);
  return out;
}

std::string lower_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    if (c.code_point < 0x80) {
      const auto byte = static_cast<char>(c.code_point);
      out.push_back(byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte);
    } else if (c.code_point == 0x130) {
      out += "i\xCC\x87";
    } else {
      size_t low = 0, high = std::size(kLower) / 2;
      while (low < high) {
        const size_t middle = (low + high) / 2;
        (kLower[2 * middle] < c.code_point ? low : high) = kLower[2 * middle] < c.code_point ? middle + 1 : middle;
      }
      const bool found = 2 * low < std::size(kLower) && kLower[2 * low] == c.code_point;
      append_utf8(found ? kLower[2 * low + 1] : c.code_point == kNotACharacter ? 0xFFFD : c.code_point, out);
    }
    at += c.length;
  }
  return out;
}

bool is_nonspacing_mark(uint32_t c) { return c >= 0x300 && run_value(kNonSpacing, c) != 0; }

}  // namespace pax::data
