#include "pax/data/hf_tokenizer.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/data/byte_spelling.h"
#include "pax/data/hf_file.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (static_cast<uint8_t>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Utf8Char c = utf8_at(text, at);
    if (c.code_point == kNotACharacter) return false;
    at += c.length;
  }
  return true;
}

}  // namespace

struct HfTokenizer::Parts {
  HfFile file;
  AddedTokenFinder in_text, in_normalized;
  std::vector<std::string> tokens;  ///< of each id, added ones too
  std::vector<bool> is_special;

  explicit Parts(HfFile read) : file(std::move(read)), tokens(file.model.table->tokens) {
    std::vector<AddedToken> plain, normalized;
    for (const AddedToken& token : file.added) {
      const auto id = static_cast<size_t>(token.id);
      if (tokens.size() <= id) tokens.resize(id + 1);
      tokens[id] = token.content;
      is_special.resize(std::max(is_special.size(), tokens.size()));
      is_special[id] = token.special;
      (token.normalized ? normalized : plain).push_back(token);
      if (token.normalized && file.normalizer) {
        normalized.back().content = file.normalizer->apply(token.content);
      }
    }
    is_special.resize(tokens.size());
    in_text = AddedTokenFinder(std::move(plain));
    in_normalized = AddedTokenFinder(std::move(normalized));
  }

  /// `shown` may be nullptr: nobody wants to see the pieces.
  void encode_words(std::string_view text, bool at_start, std::vector<int32_t>& ids,
                    std::vector<std::string>* shown) const {
    const SubwordModel& model = file.raw_bytes ? *file.model.byte_model : *file.model.model;
    TextPieces pieces{.pieces = {text}, .at_start = at_start};
    if (file.pretokenizer) file.pretokenizer->apply(pieces);
    for (const std::string_view piece : pieces.pieces) {
      if (piece.empty()) continue;
      if (shown == nullptr) {
        model.encode(piece, ids);
      } else {
        model.encode_shown(piece, ids, *shown);
      }
    }
  }

  void encode(std::string_view text, std::vector<int32_t>& ids, std::vector<std::string>* shown = nullptr) const {
    std::vector<AddedTokenFinder::Part> parts, inner;
    in_text.split(text, parts);
    std::string normalized;
    bool at_start = true;
    for (const AddedTokenFinder::Part& part : parts) {
      inner.clear();
      if (part.token != nullptr) {
        inner.push_back(part);
      } else if (file.normalizer) {
        normalized = file.normalizer->apply(std::string(part.text));
        in_normalized.split(normalized, inner);
      } else {
        in_normalized.split(part.text, inner);
      }
      for (const AddedTokenFinder::Part& piece : inner) {
        if (piece.token != nullptr) {
          ids.push_back(piece.token->id);
          if (shown != nullptr) shown->emplace_back(piece.text);
        } else {
          encode_words(piece.text, at_start, ids, shown);
        }
        at_start = false;
      }
      at_start = false;
    }
  }

  enum class Specials { kLeftOut, kShown };
  std::string decode(std::span<const int32_t> ids, Specials specials) const {
    std::vector<std::string> list;
    list.reserve(ids.size());
    for (const int32_t id : ids) {
      const auto index = static_cast<size_t>(id);
      if (id < 0 || index >= tokens.size()) {
        list.emplace_back(kReplacement);
      } else if (specials == Specials::kShown || !is_special[index]) {
        list.push_back(tokens[index]);
      }
    }
    std::string text;
    const bool spaced = file.decoder == nullptr;
    if (!spaced) list = file.decoder->apply(std::move(list));
    for (size_t i = 0; i < list.size(); ++i) text.append(spaced && i > 0 ? " " : "").append(list[i]);
    return text;
  }
};

HfTokenizer::HfTokenizer(const Config& config) : parts_(std::make_unique<Parts>(read_hf_file(*config.path))) {
  const auto role = [&](const std::optional<std::string>& token, std::optional<int32_t>& id, std::string_view field) {
    if (!token) return;
    const auto found = std::ranges::find(parts_->tokens, *token);
    if (found == parts_->tokens.end()) {
      fail<RuntimeError>("{}: {} \"{}\" is not in the vocabulary", *config.path, field, *token);
    }
    id = static_cast<int32_t>(found - parts_->tokens.begin());
  };
  SpecialIds& special = parts_->file.special;
  role(config.bos_token, special.bos, "bos_token");
  role(config.eos_token, special.eos, "eos_token");
  role(config.pad_token, special.pad, "pad_token");
  role(config.unk_token, special.unk, "unk_token");
}

HfTokenizer::~HfTokenizer() = default;

void HfTokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const {
  if (is_utf8(text)) return parts_->encode(text, ids);
  parts_->encode(repair_utf8(text), ids);
}

std::vector<int32_t> HfTokenizer::encode_with_template(std::string_view text) const {
  std::vector<int32_t> ids = parts_->file.before;
  encode(text, ids);
  ids.insert(ids.end(), parts_->file.after.begin(), parts_->file.after.end());
  return ids;
}

std::string HfTokenizer::decode(std::span<const int32_t> ids) const {
  return parts_->decode(ids, Parts::Specials::kLeftOut);
}

std::string HfTokenizer::decode_with_specials(std::span<const int32_t> ids) const {
  return parts_->decode(ids, Parts::Specials::kShown);
}

std::vector<std::string> HfTokenizer::encode_pieces(std::string_view text) const {
  std::vector<int32_t> ids;
  std::vector<std::string> shown;
  parts_->encode(repair_utf8(text), ids, &shown);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (shown[i].empty()) shown[i] = piece(ids[i]);
  }
  return shown;
}

std::string HfTokenizer::normalize(std::string_view text) const {
  return parts_->file.normalizer ? parts_->file.normalizer->apply(repair_utf8(text)) : std::string(text);
}

std::string HfTokenizer::piece(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return "<?>";
  return parts_->tokens[static_cast<size_t>(id)];
}

int32_t HfTokenizer::vocab_size() const { return static_cast<int32_t>(parts_->tokens.size()); }
SpecialIds HfTokenizer::special_ids() const { return parts_->file.special; }
std::string HfTokenizer::fingerprint() const { return parts_->file.fingerprint; }

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::HfTokenizer::Config>();
