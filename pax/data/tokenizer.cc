#include "pax/data/tokenizer.h"

#include <fmt/format.h>

namespace pax::data {

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  encode(text, ids);
  return ids;
}

std::vector<std::string> Tokenizer::encode_pieces(std::string_view text) const {
  std::vector<std::string> pieces;
  for (const int32_t id : encode(text)) pieces.push_back(piece(id));
  return pieces;
}

void BytesTokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const {
  ids.reserve(ids.size() + text.size());
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c) + kOffset);
}

std::string BytesTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const int32_t id : ids) {
    if (id >= kOffset && id < kVocabSize) {
      text.push_back(static_cast<char>(id - kOffset));
    } else if (id < 0 || id >= kVocabSize) {
      text += "\xEF\xBF\xBD";
    }
  }
  return text;
}

std::string BytesTokenizer::piece(int32_t id) const {
  if (id == kPad) return "<pad>";
  if (id == kEos) return "<eos>";
  if (id == kBos) return "<bos>";
  if (id < 0 || id >= kVocabSize) return "<?>";
  const int byte = id - kOffset;
  if (byte >= 0x20 && byte < 0x7f) return std::string(1, static_cast<char>(byte));
  return fmt::format("<0x{:02X}>", byte);
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::BytesTokenizer::Config>();
