#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pax::data {

/// SentencePiece's table of normal forms as a tokenizer.json carries it: a double-array trie of what is replaced, and
/// the replacements.
class PrecompiledMap {
 public:
  /// Throws RuntimeError when the bytes are cut short.
  explicit PrecompiledMap(std::string_view bytes);

  /// Replaces grapheme clusters of less than six bytes, else characters.
  std::string apply(std::string_view text) const;

 private:
  /// Appends the replacement of the shortest entry that `key` begins with; false when there is none.
  bool replace(std::string_view key, std::string& out) const;

  std::vector<uint32_t> trie_;
  std::string forms_;  ///< each ended by a NUL
};

/// Throws RuntimeError when `text` is no base64.
std::string decode_base64(std::string_view text);

}  // namespace pax::data
