#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pax::data {

/// A token that is taken from text as it stands.
struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool single_word = false;  ///< not beside a letter, digit or underscore
  bool lstrip = false;       ///< takes the white space before it along
  bool rstrip = false;       ///< and behind it
  bool normalized = false;   ///< looked for in normalized text, not in the text itself
  bool special = false;      ///< left out of decoded text
};

/// Finds added tokens: the leftmost match, of those the longest.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  /// `content` of each token is what is looked for.
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);

  struct Part {
    std::string_view text;
    const AddedToken* token;  ///< nullptr: text between tokens
  };
  /// Appends the parts of `text`, the text between tokens never empty.
  void split(std::string_view text, std::vector<Part>& parts) const;
  bool empty() const { return tokens_.empty(); }

 private:
  const AddedToken* longest_at(std::string_view text, size_t at) const;

  std::vector<AddedToken> tokens_;
  std::array<std::vector<uint32_t>, 256> by_first_byte_;  ///< indices, longest first
};

}  // namespace pax::data
