#include "pax/base/text.h"
#include "pax/data/bpe_merges.h"
#include "pax/data/byte_spelling.h"
#include "pax/data/hf_json.h"
#include "pax/data/subword_model.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

using nlohmann::json;

/// What a BPE says beside vocabulary and merges.
struct BpeOptions {
  std::string prefix, suffix;  ///< of pieces inside a word, of the last one
  bool byte_fallback = false, fuse_unknown = false;
  bool ignore_merges = false;  ///< a piece that is a token is that token, whatever the merges say
  std::optional<int32_t> unknown;
};

/// Pairs of ids that merge, in order.
class MergeReader {
 public:
  MergeReader(const TokenTable& table, size_t prefix_size) : table_(table), prefix_size_(prefix_size) {}

  void add(const std::string& left, const std::string& right) {
    const bool prefixed = right.size() >= prefix_size_;
    merges_.push_back({id_of(left), id_of(right), id_of(left + (prefixed ? right.substr(prefix_size_) : right))});
  }
  void add_line(const std::string& line) {
    const size_t space = line.find(' ');
    if (space == std::string::npos) fail<RuntimeError>("merge {}: \"{}\" is no pair", merges_.size(), line);
    add(line.substr(0, space), line.substr(space + 1));
  }
  void add_json(const json& merge) {
    if (merge.is_string()) return add_line(merge.get<std::string>());
    if (!merge.is_array() || merge.size() != 2 || !merge[0].is_string() || !merge[1].is_string()) {
      fail<RuntimeError>("merge {} is neither text nor a pair of texts", merges_.size());
    }
    add(merge[0].get<std::string>(), merge[1].get<std::string>());
  }
  BpeMerges merges() const { return BpeMerges(merges_); }

 private:
  int32_t id_of(const std::string& token) const {
    const auto id = table_.find(token);
    if (!id) fail<RuntimeError>("merge {}: \"{}\" is not in the vocabulary", merges_.size(), token);
    return *id;
  }

  const TokenTable& table_;
  size_t prefix_size_;
  std::vector<BpeMerges::Merge> merges_;
};

/// Merges over characters.
class CharacterBpe final : public SubwordModel {
 public:
  CharacterBpe(std::shared_ptr<const TokenTable> table, std::shared_ptr<const BpeMerges> merges, BpeOptions options)
      : table_(std::move(table)), merges_(std::move(merges)), options_(std::move(options)) {}

  void encode(std::string_view piece, std::vector<int32_t>& ids) const override {
    if (options_.ignore_merges) {
      if (const auto whole = table_->find(piece)) return ids.push_back(*whole);
    }
    const size_t before = ids.size();
    bool unknown_waits = false;  // it is written when what follows is known
    std::string symbol;
    for (size_t at = 0; at < piece.size();) {
      const std::string_view character = piece.substr(at, utf8_at(piece, at).length);
      symbol.assign(at > 0 ? options_.prefix : "").append(character);
      at += character.size();
      if (at == piece.size()) symbol += options_.suffix;
      if (const auto id = table_->find(symbol)) {
        if (unknown_waits) ids.push_back(*options_.unknown);
        unknown_waits = false;
        ids.push_back(*id);
      } else if (options_.byte_fallback && append_byte_tokens(*table_, symbol, ids)) {
        continue;
      } else if (options_.unknown) {
        if (unknown_waits && !options_.fuse_unknown) ids.push_back(*options_.unknown);
        unknown_waits = true;
      }
    }
    if (unknown_waits) ids.push_back(*options_.unknown);
    merges_->merge_last(ids.size() - before, ids);
  }

 private:
  std::shared_ptr<const TokenTable> table_;
  std::shared_ptr<const BpeMerges> merges_;
  BpeOptions options_;
};

/// Merges over raw bytes, each of which has a token; words that become one token are looked up.
class ByteBpe final : public SubwordModel {
 public:
  ByteBpe(const TokenTable& table, std::shared_ptr<const BpeMerges> merges, std::vector<int32_t> byte_ids,
          bool ignore_merges)
      : merges_(std::move(merges)), byte_ids_(std::move(byte_ids)) {
    std::vector<int32_t> ids;
    for (size_t id = 0; id < table.tokens.size(); ++id) {
      const std::optional<std::string> word = spelled_bytes(table.tokens[id]);
      if (!word || word->empty()) continue;
      ids.clear();
      if (!ignore_merges && word->size() <= 64) merge(*word, ids);
      if (ignore_merges || (ids.size() == 1 && ids.front() == static_cast<int32_t>(id))) {
        whole_words_.emplace(*word, static_cast<int32_t>(id));
      }
    }
  }

  void encode(std::string_view piece, std::vector<int32_t>& ids) const override {
    const auto found = whole_words_.find(piece);
    if (found != whole_words_.end()) return ids.push_back(found->second);
    merge(piece, ids);
  }

 private:
  void merge(std::string_view piece, std::vector<int32_t>& ids) const {
    for (const char c : piece) ids.push_back(byte_ids_[static_cast<uint8_t>(c)]);
    merges_->merge_last(piece.size(), ids);
  }

  std::shared_ptr<const BpeMerges> merges_;
  std::vector<int32_t> byte_ids_;
  TokenIds whole_words_;
};

/// The tokens of the 256 spelled bytes; empty when one has none.
std::vector<int32_t> ids_of_bytes(const TokenTable& table) {
  std::vector<int32_t> ids;
  for (int b = 0; b < 256; ++b) {
    const auto id = table.find(spell_bytes(std::string(1, static_cast<char>(b))));
    if (!id) return {};
    ids.push_back(*id);
  }
  return ids;
}

SubwordModelFile make_bpe(std::shared_ptr<const TokenTable> table, BpeMerges read, BpeOptions options) {
  const auto merges = std::make_shared<const BpeMerges>(std::move(read));
  SubwordModelFile file{.table = table, .unknown = options.unknown};
  std::vector<int32_t> byte_ids = ids_of_bytes(*table);
  if (!byte_ids.empty() && options.prefix.empty() && options.suffix.empty()) {
    file.byte_model = std::make_unique<ByteBpe>(*table, merges, std::move(byte_ids), options.ignore_merges);
  }
  file.model = std::make_unique<CharacterBpe>(table, merges, std::move(options));
  return file;
}

}  // namespace

SubwordModelFile read_bpe_model(const json& node) {
  const std::shared_ptr<TokenTable> table = read_token_table(json_member(node, "vocab"));
  BpeOptions options{.prefix = json_text_or(node, "continuing_subword_prefix", ""),
                     .suffix = json_text_or(node, "end_of_word_suffix", ""),
                     .byte_fallback = json_flag(node, "byte_fallback", false),
                     .fuse_unknown = json_flag(node, "fuse_unk", false),
                     .ignore_merges = json_flag(node, "ignore_merges", false)};
  if (json_has(node, "unk_token")) options.unknown = table->find(json_text(node, "unk_token"));
  MergeReader merges(*table, options.prefix.size());
  for (const json& merge : json_list(node, "merges")) merges.add_json(merge);
  return make_bpe(table, merges.merges(), std::move(options));
}

SubwordModelFile read_gpt2_model(const json& vocabulary, const std::string& merges_text) {
  const std::shared_ptr<TokenTable> table = read_token_table(vocabulary);
  MergeReader merges(*table, 0);
  for (const std::string& line : split(merges_text, '\n')) {
    if (line.empty() || line.starts_with("#version")) continue;
    merges.add_line(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  }
  return make_bpe(table, merges.merges(), {});
}

}  // namespace pax::data
