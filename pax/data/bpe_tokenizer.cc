#include "pax/data/bpe_tokenizer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/data/bpe_file.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

bool is_word(uint32_t c) {
  return (bit(unicode_class(c)) & (kLetters | kNumbers | bit(UnicodeClass::kM))) != 0 || c == '_';
}

/// The code point that ends just before `at`.
uint32_t code_point_before(std::string_view text, size_t at) {
  size_t start = at - 1;
  while (start > 0 && at - start < 4 && (static_cast<uint8_t>(text[start]) & 0xC0) == 0x80) --start;
  return utf8_at(text, start).code_point;
}

}  // namespace

struct BpeTokenizer::Model {
  BpeFile file;
  std::array<std::vector<const AddedToken*>, 256> added_by_first_byte;  ///< longest first
  std::unordered_map<std::string_view, int32_t> whole_words;            ///< words that become one id

  explicit Model(BpeFile read) : file(std::move(read)) {
    for (const AddedToken& token : file.added) {
      if (!token.content.empty()) {
        added_by_first_byte[static_cast<uint8_t>(token.content.front())].push_back(&token);
      }
    }
    for (auto& tokens : added_by_first_byte) {
      std::ranges::stable_sort(
          tokens, [](const AddedToken* a, const AddedToken* b) { return a->content.size() > b->content.size(); });
    }
    std::vector<int32_t> ids;
    for (size_t id = 0; id < file.token_bytes.size(); ++id) {
      const std::string& word = file.token_bytes[id];
      if (word.empty() || file.is_added[id]) continue;
      ids.clear();
      if (!file.ignore_merges && word.size() <= 64) file.merges.encode(word, ids);
      if (file.ignore_merges || (ids.size() == 1 && ids.front() == static_cast<int32_t>(id))) {
        whole_words.emplace(word, static_cast<int32_t>(id));
      }
    }
  }

  /// The longest added token at `at` that may stand there.
  const AddedToken* added_at(std::string_view text, size_t at) const {
    for (const AddedToken* token : added_by_first_byte[static_cast<uint8_t>(text[at])]) {
      if (!text.substr(at).starts_with(token->content)) continue;
      const size_t end = at + token->content.size();
      if (token->single_word && ((at > 0 && is_word(code_point_before(text, at))) ||
                                 (end < text.size() && is_word(utf8_at(text, end).code_point)))) {
        continue;
      }
      return token;
    }
    return nullptr;
  }

  void encode_words(std::string_view text, std::vector<int32_t>& ids) const {
    std::string with_space;
    if (file.add_prefix_space && !text.empty() && !is_white_space(utf8_at(text, 0).code_point)) {
      with_space.append(" ").append(text);
      text = with_space;
    }
    std::vector<std::string_view> words{text};
    std::vector<std::string_view> cut;
    for (const auto& pretokenizer : file.pretokenizers) {
      cut.clear();
      for (const std::string_view word : words) pretokenizer->split(word, cut);
      words.swap(cut);
    }
    for (const std::string_view word : words) {
      if (const auto found = whole_words.find(word); found != whole_words.end()) {
        ids.push_back(found->second);
      } else {
        file.merges.encode(word, ids);
      }
    }
  }

  void encode(std::string_view text, std::vector<int32_t>& ids) const {
    size_t start = 0;
    for (size_t at = 0; at < text.size();) {
      const AddedToken* token = added_at(text, at);
      if (token == nullptr) {
        ++at;
        continue;
      }
      size_t before = at;
      while (token->lstrip && before > start && is_white_space(code_point_before(text, before))) {
        do {
          --before;
        } while (before > start && (static_cast<uint8_t>(text[before]) & 0xC0) == 0x80);
      }
      if (before > start) encode_words(text.substr(start, before - start), ids);
      ids.push_back(token->id);
      at += token->content.size();
      while (token->rstrip && at < text.size() && is_white_space(utf8_at(text, at).code_point)) {
        at += utf8_at(text, at).length;
      }
      start = at;
    }
    if (start < text.size()) encode_words(text.substr(start), ids);
  }

  enum class Specials { kLeftOut, kShown };
  std::string decode(std::span<const int32_t> ids, Specials specials) const {
    std::string bytes;
    for (const int32_t id : ids) {
      const auto index = static_cast<size_t>(id);
      if (id < 0 || index >= file.token_bytes.size()) {
        bytes += "\xEF\xBF\xBD";
      } else if (specials == Specials::kShown || !file.is_special[index]) {
        bytes += file.token_bytes[index];
      }
    }
    return repair_utf8(bytes);
  }
};

BpeTokenizer::BpeTokenizer(const Config& config) {
  BpeFile file = read_bpe_file(*config.path);
  const auto role = [&](const std::optional<std::string>& token, std::optional<int32_t>& id, std::string_view field) {
    if (!token) return;
    const auto found = file.ids.find(*token);
    if (found == file.ids.end())
      fail<RuntimeError>("{}: {} \"{}\" is not in the vocabulary", *config.path, field, *token);
    id = found->second;
  };
  role(config.bos_token, file.special.bos, "bos_token");
  role(config.eos_token, file.special.eos, "eos_token");
  role(config.pad_token, file.special.pad, "pad_token");
  role(config.unk_token, file.special.unk, "unk_token");
  model_ = std::make_unique<Model>(std::move(file));
}

BpeTokenizer::~BpeTokenizer() = default;

void BpeTokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const { model_->encode(text, ids); }

std::string BpeTokenizer::decode(std::span<const int32_t> ids) const {
  return model_->decode(ids, Model::Specials::kLeftOut);
}

std::string BpeTokenizer::decode_with_specials(std::span<const int32_t> ids) const {
  return model_->decode(ids, Model::Specials::kShown);
}

std::string BpeTokenizer::piece(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return "<?>";
  return model_->file.tokens[static_cast<size_t>(id)];
}

int32_t BpeTokenizer::vocab_size() const { return static_cast<int32_t>(model_->file.tokens.size()); }
SpecialIds BpeTokenizer::special_ids() const { return model_->file.special; }
std::string BpeTokenizer::fingerprint() const { return model_->file.fingerprint; }

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::BpeTokenizer::Config>();
