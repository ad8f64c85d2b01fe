#include "pax/data/bpe_file.h"

#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/hash.h"
#include "pax/base/text.h"
#include "pax/data/unicode.h"

namespace pax::data {
namespace {

using nlohmann::json;

constexpr int32_t kMaxId = 1 << 24;

/// GPT-2's spelling of bytes: printable Latin-1 characters stand for themselves, the other bytes for U+0100 and up.
std::array<uint32_t, 256> byte_characters() {
  std::array<uint32_t, 256> characters{};
  uint32_t next = 256;
  for (uint32_t b = 0; b < 256; ++b) {
    const bool itself = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    characters[b] = itself ? b : next++;
  }
  return characters;
}

/// A spelled token's bytes; its own text when a character of it stands for no byte.
std::string bytes_of_token(const std::string& token, const std::unordered_map<uint32_t, char>& byte_of) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const Utf8Char c = utf8_at(token, at);
    const auto found = byte_of.find(c.code_point);
    if (found == byte_of.end()) return token;
    bytes.push_back(found->second);
    at += c.length;
  }
  return bytes;
}

/// Reads one tokenizer; every failure names the file.
class Reader {
 public:
  explicit Reader(std::filesystem::path path) : path_(std::move(path)) {}

  BpeFile read() {
    if (std::filesystem::is_directory(path_)) {
      path_ /= std::filesystem::exists(path_ / "tokenizer.json") ? "tokenizer.json" : "vocab.json";
    }
    const std::string text = read_file(path_);
    Digest digest;
    digest.update(text);
    const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!root.is_object()) reject("is no JSON object");
    if (root.contains("model")) {
      read_tokenizer_json(root);
    } else {
      read_vocab(root);
      const std::string merges = read_file(path_.parent_path() / "merges.txt");
      digest.update(merges);
      read_merges_text(merges);
      file_.pretokenizers.push_back(make_split_pretokenizer(kGpt2Pattern));
      add_usual_special("<|endoftext|>");
    }
    finish();
    file_.fingerprint = "bpe-" + digest.hex().substr(0, 16);
    return std::move(file_);
  }

 private:
  template <class... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    fail<RuntimeError>("{}: {}", path_.string(), fmt::format(format, std::forward<Args>(args)...));
  }

  const json& member(const json& object, const char* name) const {
    if (!object.is_object() || !object.contains(name)) reject("has no \"{}\" where one belongs", name);
    return object.at(name);
  }
  std::string text(const json& object, const char* name) const {
    const json& value = member(object, name);
    if (!value.is_string()) reject("\"{}\" is no text", name);
    return value.get<std::string>();
  }
  bool flag(const json& object, const char* name, bool otherwise) const {
    if (!object.is_object() || !object.contains(name) || !object.at(name).is_boolean()) return otherwise;
    return object.at(name).get<bool>();
  }

  void put_token(const std::string& token, const json& id) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= kMaxId) {
      reject("the id of token \"{}\" is not in [0, {})", token, kMaxId);
    }
    const auto index = id.get<size_t>();
    if (file_.tokens.size() <= index) file_.tokens.resize(index + 1);
    file_.tokens[index] = token;
    file_.ids[token] = static_cast<int32_t>(index);
  }

  void read_vocab(const json& vocab) {
    if (!vocab.is_object()) reject("the vocabulary is no JSON object");
    for (const auto& [token, id] : vocab.items()) put_token(token, id);
  }

  int32_t id_of(const std::string& token) const {
    const auto found = file_.ids.find(token);
    if (found == file_.ids.end()) reject("merge {}: \"{}\" is not in the vocabulary", merges_.size(), token);
    return found->second;
  }
  void add_merge(const std::string& left, const std::string& right) {
    merges_.push_back({id_of(left), id_of(right), id_of(left + right)});
  }
  void add_merge_line(const std::string& line) {
    const size_t space = line.find(' ');
    if (space == std::string::npos) reject("merge {}: \"{}\" is no pair", merges_.size(), line);
    add_merge(line.substr(0, space), line.substr(space + 1));
  }
  void read_merges_text(const std::string& all) {
    for (const std::string& line : split(all, '\n')) {
      if (!line.empty() && !line.starts_with("#version"))
        add_merge_line(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    }
  }

  void read_tokenizer_json(const json& root) {
    const json& model = member(root, "model");
    const std::string type = model.contains("type") && model.at("type").is_string() ? text(model, "type") : "BPE";
    if (type != "BPE") reject("model {} is not supported here; use the SentencePiece .model file", type);
    if (flag(model, "byte_fallback", false)) {
      reject("BPE with byte_fallback is not supported here; use the SentencePiece .model file");
    }
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (model.contains(name) && model.at(name).is_string() && !text(model, name).empty()) {
        reject("{} \"{}\" is not supported", name, text(model, name));
      }
    }
    file_.ignore_merges = flag(model, "ignore_merges", false);
    read_vocab(member(model, "vocab"));
    for (const json& merge : member(model, "merges")) {
      if (merge.is_string()) {
        add_merge_line(merge.get<std::string>());
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        add_merge(merge[0].get<std::string>(), merge[1].get<std::string>());
      } else {
        reject("merge {} is neither text nor a pair of texts", merges_.size());
      }
    }
    if (root.contains("normalizer") && !root.at("normalizer").is_null()) {
      reject("normalizer {} is not supported", root.at("normalizer").dump());
    }
    if (root.contains("added_tokens")) {
      for (const json& token : root.at("added_tokens")) read_added(token);
    }
    if (!root.contains("pre_tokenizer") || root.at("pre_tokenizer").is_null()) reject("has no pre_tokenizer");
    read_pretokenizer(root.at("pre_tokenizer"), 0);
    if (!byte_level_) reject("its pre-tokenizer is not ByteLevel; only byte-level BPE is supported");
  }

  void read_added(const json& token) {
    AddedToken added{.content = text(token, "content"),
                     .single_word = flag(token, "single_word", false),
                     .lstrip = flag(token, "lstrip", false),
                     .rstrip = flag(token, "rstrip", false)};
    put_token(added.content, member(token, "id"));
    added.id = file_.ids.at(added.content);
    if (flag(token, "special", false)) special_.push_back(added.id);
    file_.added.push_back(std::move(added));
  }

  void read_pretokenizer(const json& node, int depth) {
    const std::string type = text(node, "type");
    if (type == "Sequence" && depth == 0) {
      for (const json& child : member(node, "pretokenizers")) read_pretokenizer(child, 1);
    } else if (type == "ByteLevel") {
      byte_level_ = true;
      file_.add_prefix_space = file_.add_prefix_space || flag(node, "add_prefix_space", true);
      if (flag(node, "use_regex", true)) file_.pretokenizers.push_back(make_split_pretokenizer(kGpt2Pattern));
    } else if (type == "Split") {
      const json& pattern = member(node, "pattern");
      if (text(node, "behavior") != "Isolated" || flag(node, "invert", false)) {
        reject("Split with behavior {} is not supported", text(node, "behavior"));
      }
      file_.pretokenizers.push_back(make_split_pretokenizer(text(pattern, "Regex")));
    } else if (type == "Digits") {
      const bool individual = flag(node, "individual_digits", false);
      file_.pretokenizers.push_back(make_split_pretokenizer(individual ? "\\p{N}" : "\\p{N}+"));
    } else {
      reject("pre-tokenizer {} is not supported", type);
    }
  }

  void add_usual_special(const std::string& content) {
    const auto found = file_.ids.find(content);
    if (found == file_.ids.end()) return;
    special_.push_back(found->second);
    file_.added.push_back({.content = content, .id = found->second});
  }

  void finish() {
    std::unordered_map<uint32_t, char> byte_of;
    std::vector<int32_t> byte_ids;
    const std::array<uint32_t, 256> characters = byte_characters();
    for (size_t b = 0; b < 256; ++b) {
      byte_of[characters[b]] = static_cast<char>(b);
      std::string spelled;
      append_utf8(characters[b], spelled);
      const auto found = file_.ids.find(spelled);
      if (found == file_.ids.end()) reject("byte {} has no token; only byte-level BPE is supported", b);
      byte_ids.push_back(found->second);
    }
    for (const std::string& token : file_.tokens) file_.token_bytes.push_back(bytes_of_token(token, byte_of));
    file_.is_added.resize(file_.tokens.size());
    file_.is_special.resize(file_.tokens.size());
    for (const AddedToken& added : file_.added) file_.is_added[static_cast<size_t>(added.id)] = true;
    for (const int32_t id : special_) file_.is_special[static_cast<size_t>(id)] = true;
    file_.merges = BpeMerges(std::move(byte_ids), merges_);
    file_.special.bos = first_of({"<|begin_of_text|>", "<|startoftext|>", "<s>", "<bos>", "[CLS]", "<|endoftext|>"});
    file_.special.eos = first_of({"<|end_of_text|>", "</s>", "<eos>", "[SEP]", "<|endoftext|>", "<|eot_id|>"});
    file_.special.pad = first_of({"<|finetune_right_pad_id|>", "<pad>", "[PAD]", "<|padding|>", "<|pad|>"});
    file_.special.unk = first_of({"<unk>", "[UNK]", "<|unk|>"});
  }

  /// The first of these that is an added token.
  std::optional<int32_t> first_of(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const auto found = file_.ids.find(name);
      if (found != file_.ids.end() && file_.is_added[static_cast<size_t>(found->second)]) return found->second;
    }
    return std::nullopt;
  }

  std::filesystem::path path_;
  BpeFile file_;
  std::vector<BpeMerges::Merge> merges_;
  std::vector<int32_t> special_;
  bool byte_level_ = false;
};

}  // namespace

BpeFile read_bpe_file(const std::filesystem::path& path) { return Reader(path).read(); }

}  // namespace pax::data
