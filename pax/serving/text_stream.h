#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pax/data/tokenizer.h"

namespace pax {

/// Turns tokens into text as they come: whole UTF-8 characters only, and nothing of a stop text.
class TextStream {
 public:
  /// `prompt`: the tokens before, which may decide how the first new one reads. `stop`: texts that end it.
  TextStream(const data::Tokenizer& tokenizer, std::span<const int32_t> prompt, std::vector<std::string> stop);

  /// Text that is certain now that `id` came; may be empty.
  std::string push(int32_t id);
  /// What was held back, at the end.
  std::string finish();
  /// A stop text came: no more tokens are needed.
  bool stopped() const { return stopped_; }

 private:
  std::string release(bool all);

  const data::Tokenizer& tokenizer_;
  const std::vector<std::string> stop_;
  std::vector<int32_t> ids_;
  size_t context_ = 0;  ///< ids from here on are decoded together
  size_t read_ = 0;     ///< ids before this are in `held_` or were handed out
  std::string held_;    ///< text not handed out yet
  bool stopped_ = false;
};

/// `text` with what is not UTF-8 replaced by U+FFFD.
std::string repaired_utf8(std::string_view text);

}  // namespace pax
