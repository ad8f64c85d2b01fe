#include "pax/data/subword_model.h"

#include <algorithm>
#include <limits>

#include "pax/data/hf_json.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

using nlohmann::json;

constexpr int64_t kMaxId = 1 << 22;

/// The longest token first, from the left (BERT).
class WordPiece final : public SubwordModel {
 public:
  WordPiece(const json& node, std::shared_ptr<const TokenTable> table, std::optional<int32_t> unknown)
      : table_(std::move(table)),
        unknown_(unknown),
        prefix_(json_text_or(node, "continuing_subword_prefix", "##")),
        max_characters_(json_number(node, "max_input_chars_per_word", 100)) {
    for (const std::string& token : table_->tokens) longest_ = std::max(longest_, token.size());
  }

  void encode(std::string_view piece, std::vector<int32_t>& ids) const override {
    const size_t before = ids.size();
    int64_t characters = 0;
    for (const char c : piece) characters += (static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0;
    bool known = characters <= max_characters_;
    for (size_t at = 0; known && at < piece.size();) {
      const size_t taken = longest_at(piece, at, ids);
      known = taken > 0;
      at += taken;
    }
    if (known) return;
    ids.resize(before);
    if (!unknown_) fail<RuntimeError>("the tokenizer has no unknown token but \"{:.80}\" needs it", piece);
    ids.push_back(*unknown_);
  }

 private:
  size_t longest_at(std::string_view piece, size_t at, std::vector<int32_t>& ids) const {
    std::string word = at > 0 ? prefix_ : "";
    const size_t head = word.size();
    word += piece.substr(at, longest_);
    while (word.size() > head) {
      if (const auto id = table_->find(word)) {
        ids.push_back(*id);
        return word.size() - head;
      }
      do {
        word.pop_back();
      } while (word.size() > head && (static_cast<uint8_t>(piece[at + word.size() - head]) & 0xC0) == 0x80);
    }
    return 0;
  }

  std::shared_ptr<const TokenTable> table_;
  std::optional<int32_t> unknown_;
  std::string prefix_;
  int64_t max_characters_;
  size_t longest_ = 0;
};

/// Whole words only.
class WordLevel final : public SubwordModel {
 public:
  WordLevel(std::shared_ptr<const TokenTable> table, std::optional<int32_t> unknown)
      : table_(std::move(table)), unknown_(unknown) {}
  void encode(std::string_view piece, std::vector<int32_t>& ids) const override {
    const auto id = table_->find(piece);
    if (!id && !unknown_) fail<RuntimeError>("the tokenizer has no unknown token but \"{:.80}\" needs it", piece);
    ids.push_back(id ? *id : *unknown_);
  }

 private:
  std::shared_ptr<const TokenTable> table_;
  std::optional<int32_t> unknown_;
};

/// The likeliest cut (T. Kudo, "Subword Regularization", 2018), in double precision.
class Unigram final : public SubwordModel {
 public:
  Unigram(const json& node, std::shared_ptr<const TokenTable> table, std::vector<double> scores,
          std::optional<int32_t> unknown)
      : table_(std::move(table)),
        scores_(std::move(scores)),
        unknown_(unknown),
        byte_fallback_(json_flag(node, "byte_fallback", false)) {
    for (const double score : scores_) unknown_score_ = std::min(unknown_score_, score);
    unknown_score_ -= 10.0;
    for (size_t id = 0; id < table_->tokens.size(); ++id) add_to_trie(table_->tokens[id], static_cast<int32_t>(id));
  }

  void encode(std::string_view piece, std::vector<int32_t>& ids) const override {
    for (const std::string_view token : cuts(piece)) append(token, ids);
  }

  void encode_shown(std::string_view piece, std::vector<int32_t>& ids, std::vector<std::string>& shown) const override {
    for (const std::string_view token : cuts(piece)) {
      append(token, ids);
      shown.resize(ids.size());
      if (ids.back() == unknown_) shown.back() = token;
    }
  }

 private:
  std::vector<std::string_view> cuts(std::string_view piece) const {
    const std::vector<Node> best = best_cuts(piece);
    std::vector<std::pair<size_t, size_t>> cuts;  // from the end
    bool in_unknown = false;
    for (size_t end = piece.size(); end > 0; end = best[end].start) {
      const bool unknown = unknown_ && best[end].id == *unknown_;
      // Unknown characters beside each other are one.
      if (unknown && in_unknown) {
        cuts.back().first = best[end].start;
      } else {
        cuts.emplace_back(best[end].start, end);
      }
      in_unknown = unknown;
    }
    std::vector<std::string_view> tokens;
    for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
      tokens.push_back(piece.substr(cut->first, cut->second - cut->first));
    }
    return tokens;
  }

  struct Node {
    double score = 0;
    size_t start = std::numeric_limits<size_t>::max();
    int32_t id = -1;
  };

  void append(std::string_view token, std::vector<int32_t>& ids) const {
    if (const auto id = table_->find(token)) return ids.push_back(*id);
    if (byte_fallback_ && append_byte_tokens(*table_, token, ids)) return;
    if (!unknown_) fail<RuntimeError>("the tokenizer has no unknown token but \"{:.80}\" needs it", token);
    ids.push_back(*unknown_);
  }

  std::vector<Node> best_cuts(std::string_view piece) const {
    std::vector<Node> best(piece.size() + 1);
    best[0].start = 0;
    const auto offer = [&](size_t start, size_t end, double score, int32_t id) {
      Node& node = best[end];
      if (node.start == std::numeric_limits<size_t>::max() || score > node.score) node = {score, start, id};
    };
    for (size_t at = 0; at < piece.size();) {
      const double here = best[at].score;
      const size_t step = utf8_at(piece, at).length;
      bool has_single = false;
      int32_t node = 0;
      for (size_t end = at; end < piece.size();) {
        const auto child = trie_.find(edge(node, piece[end]));
        if (child == trie_.end()) break;
        node = child->second;
        ++end;
        const int32_t id = id_at_[static_cast<size_t>(node)];
        if (id < 0) continue;
        offer(at, end, here + scores_[static_cast<size_t>(id)], id);
        has_single = has_single || end - at == step;
      }
      if (!has_single) offer(at, at + step, here + unknown_score_, unknown_.value_or(-1));
      at += step;
    }
    return best;
  }

  static uint64_t edge(int32_t node, char byte) {
    return static_cast<uint64_t>(static_cast<uint32_t>(node)) << 8 | static_cast<uint8_t>(byte);
  }
  void add_to_trie(const std::string& token, int32_t id) {
    if (token.empty()) return;
    int32_t node = 0;
    for (const char c : token) {
      const auto [at, is_new] = trie_.emplace(edge(node, c), static_cast<int32_t>(id_at_.size()));
      if (is_new) id_at_.push_back(-1);
      node = at->second;
    }
    id_at_[static_cast<size_t>(node)] = id;
  }

  std::shared_ptr<const TokenTable> table_;
  std::vector<double> scores_;
  std::optional<int32_t> unknown_;
  bool byte_fallback_;
  double unknown_score_ = std::numeric_limits<double>::infinity();
  std::unordered_map<uint64_t, int32_t> trie_;
  std::vector<int32_t> id_at_{-1};  ///< of each node
};

std::optional<int32_t> unknown_of(const json& node, const TokenTable& table) {
  if (!json_has(node, "unk_token")) return std::nullopt;
  return table.find(json_text(node, "unk_token"));
}

SubwordModelFile read_unigram(const json& node) {
  auto table = std::make_shared<TokenTable>();
  std::vector<double> scores;
  for (const json& entry : json_list(node, "vocab")) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      fail<RuntimeError>("entry {} of the vocabulary is no pair of text and score", scores.size());
    }
    const auto token = entry[0].get<std::string>();
    const auto id = static_cast<int64_t>(scores.size());
    table->put(token, id);
    scores.push_back(entry[1].get<double>());
  }
  const int64_t unknown = json_number(node, "unk_id", -1);
  if (unknown >= static_cast<int64_t>(scores.size())) fail<RuntimeError>("unk_id is {} of {}", unknown, scores.size());
  SubwordModelFile file{.table = table};
  if (unknown >= 0) file.unknown = static_cast<int32_t>(unknown);
  file.model = std::make_unique<Unigram>(node, table, std::move(scores), file.unknown);
  return file;
}

/// By `type`, or by what it holds where old files leave that out.
std::string type_of_model(const json& node) {
  if (json_has(node, "type")) return json_text(node, "type");
  if (json_has(node, "merges")) return "BPE";
  if (json_has(node, "vocab") && node.at("vocab").is_array()) return "Unigram";
  return json_has(node, "continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

}  // namespace

SubwordModelFile read_subword_model(const json& node) {
  if (!node.is_object()) fail<RuntimeError>("\"model\" is no JSON object");
  const std::string type = type_of_model(node);
  if (type == "BPE") return read_bpe_model(node);
  if (type == "Unigram") return read_unigram(node);
  if (type != "WordPiece" && type != "WordLevel") fail<RuntimeError>("model {} is not supported", type);
  const auto table = read_token_table(json_member(node, "vocab"));
  SubwordModelFile file{.table = table, .unknown = unknown_of(node, *table)};
  if (type == "WordPiece") {
    file.model = std::make_unique<WordPiece>(node, table, file.unknown);
  } else {
    file.model = std::make_unique<WordLevel>(table, file.unknown);
  }
  return file;
}

std::shared_ptr<TokenTable> read_token_table(const json& vocabulary) {
  if (!vocabulary.is_object()) fail<RuntimeError>("the vocabulary is no JSON object");
  auto table = std::make_shared<TokenTable>();
  for (const auto& [token, id] : vocabulary.items()) {
    if (!id.is_number_integer()) fail<RuntimeError>("the id of token \"{}\" is no number", token);
    table->put(token, id.get<int64_t>());
  }
  return table;
}

bool append_byte_tokens(const TokenTable& table, std::string_view bytes, std::vector<int32_t>& ids) {
  const size_t before = ids.size();
  for (const char c : bytes) {
    const auto id = table.find(fmt::format("<0x{:02X}>", static_cast<uint8_t>(c)));
    if (!id) {
      ids.resize(before);
      return false;
    }
    ids.push_back(*id);
  }
  return true;
}

void TokenTable::put(const std::string& token, int64_t id) {
  if (id < 0 || id >= kMaxId) fail<RuntimeError>("the id of token \"{}\" is {}, not in [0, {})", token, id, kMaxId);
  const auto index = static_cast<size_t>(id);
  if (tokens.size() <= index) tokens.resize(index + 1);
  tokens[index] = token;
  ids[token] = static_cast<int32_t>(index);
}

std::optional<int32_t> TokenTable::find(std::string_view token) const {
  const auto found = ids.find(token);
  return found == ids.end() ? std::nullopt : std::optional<int32_t>(found->second);
}

}  // namespace pax::data
