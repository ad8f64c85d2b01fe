#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pax::data {

/// Text on its way to the model, in pieces that tokens do not cross.
struct TextPieces {
  std::vector<std::string_view> pieces;
  std::deque<std::string> kept;  ///< what pieces look at when they are not parts of the text itself
  bool at_start = true;          ///< whether the first piece begins the whole text
};

/// How a tokenizer.json cuts text.
class HfPretokenizer {
 public:
  virtual ~HfPretokenizer() = default;
  virtual void apply(TextPieces& text) const = 0;
};

/// What ByteLevel does to bytes.
enum class ByteLevelForm {
  kSpelled,  ///< each becomes a character, as in the file
  kRaw       ///< they stay: the model takes bytes
};

/// The pre-tokenizer of a tokenizer.json's node. Throws RuntimeError naming what is not supported.
std::unique_ptr<HfPretokenizer> make_pretokenizer(const nlohmann::json& node, ByteLevelForm form, int depth = 0);

/// Whether `node` is ByteLevel or a sequence that ends in it and has it once: then bytes may stay bytes.
bool ends_in_byte_level(const nlohmann::json& node);

}  // namespace pax::data
