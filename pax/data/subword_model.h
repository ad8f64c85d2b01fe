#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pax::data {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using TokenIds = std::unordered_map<std::string, int32_t, StringHash, std::equal_to<>>;

/// The vocabulary of a model.
struct TokenTable {
  std::vector<std::string> tokens;  ///< as the file spells them; "" where an id has none
  TokenIds ids;

  /// Throws RuntimeError when the id is negative or beyond all reason.
  void put(const std::string& token, int64_t id);
  std::optional<int32_t> find(std::string_view token) const;
};

/// Cuts one piece of text into tokens.
class SubwordModel {
 public:
  virtual ~SubwordModel() = default;
  virtual void encode(std::string_view piece, std::vector<int32_t>& ids) const = 0;

  /// The same for people: appends to `shown` the text of each id, "" where the token's own spelling is meant.
  virtual void encode_shown(std::string_view piece, std::vector<int32_t>& ids, std::vector<std::string>& shown) const {
    encode(piece, ids);
    shown.resize(ids.size());
  }
};

/// What a tokenizer.json's `model` says.
struct SubwordModelFile {
  std::shared_ptr<const TokenTable> table;
  std::unique_ptr<SubwordModel> model;
  std::optional<int32_t> unknown;
  /// For a BPE that has a token for each spelled byte: the pieces may be raw bytes, by this model instead.
  std::unique_ptr<SubwordModel> byte_model;
};

/// Reads `model`: BPE, WordPiece, WordLevel, Unigram. Throws RuntimeError naming what is wrong.
SubwordModelFile read_subword_model(const nlohmann::json& model);

/// Reads a `model` of type BPE.
SubwordModelFile read_bpe_model(const nlohmann::json& model);

/// The BPE of GPT-2's two files: `merges` has lines "left right".
SubwordModelFile read_gpt2_model(const nlohmann::json& vocabulary, const std::string& merges);

/// A vocabulary {token: id}. Throws RuntimeError.
std::shared_ptr<TokenTable> read_token_table(const nlohmann::json& vocabulary);

/// Appends the tokens `<0x..>` of the bytes; false, and nothing appended, when one is missing.
bool append_byte_tokens(const TokenTable& table, std::string_view bytes, std::vector<int32_t>& ids);

}  // namespace pax::data
