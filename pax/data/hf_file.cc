#include "pax/data/hf_file.h"

#include <initializer_list>

#include "pax/base/files.h"
#include "pax/base/hash.h"
#include "pax/data/hf_json.h"

namespace pax::data {
namespace {

using nlohmann::json;

AddedToken read_added(const json& node) {
  AddedToken token{.content = json_text(node, "content"),
                   .id = static_cast<int32_t>(json_number(node, "id", -1)),
                   .single_word = json_flag(node, "single_word", false),
                   .lstrip = json_flag(node, "lstrip", false),
                   .rstrip = json_flag(node, "rstrip", false),
                   .special = json_flag(node, "special", false)};
  token.normalized = json_flag(node, "normalized", !token.special);
  if (token.id < 0 || token.id >= 1 << 22) {
    fail<RuntimeError>("added token \"{}\" has id {}", token.content, json_number(node, "id", -1));
  }
  return token;
}

void append_ids(const json& list, std::vector<int32_t>& ids) {
  for (const json& id : list) {
    if (!id.is_number_integer()) fail<RuntimeError>("the post-processor has an id that is no number");
    ids.push_back(id.get<int32_t>());
  }
}

/// ["[SEP]", 102] of BertProcessing and RobertaProcessing.
int32_t id_of_pair(const json& node, const char* name) {
  const json& pair = json_list(node, name);
  if (pair.size() != 2 || !pair[1].is_number_integer()) fail<RuntimeError>("\"{}\" is no pair of token and id", name);
  return pair[1].get<int32_t>();
}

void read_template(const json& node, HfFile& file) {
  bool text_seen = false;
  for (const json& item : json_list(node, "single")) {
    if (json_has(item, "Sequence")) {
      text_seen = true;
    } else {
      const std::string name = json_text(json_member(item, "SpecialToken"), "id");
      append_ids(json_list(json_member(json_member(node, "special_tokens"), name.c_str()), "ids"),
                 text_seen ? file.after : file.before);
    }
  }
}

void read_post_processor(const json& node, HfFile& file, int depth = 0) {
  if (depth > kMaxJsonDepth) fail<RuntimeError>("post-processors are nested more than {} deep", kMaxJsonDepth);
  const std::string type = json_text(node, "type");
  if (type == "Sequence") {
    for (const json& child : json_list(node, "processors")) read_post_processor(child, file, depth + 1);
  } else if (type == "TemplateProcessing") {
    read_template(node, file);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    file.before.push_back(id_of_pair(node, "cls"));
    file.after.push_back(id_of_pair(node, "sep"));
  } else if (type != "ByteLevel") {
    fail<RuntimeError>("post-processor {} is not supported", type);
  }
}

void read_tokenizer_json(const json& root, HfFile& file) {
  file.model = read_subword_model(json_member(root, "model"));
  if (json_has(root, "normalizer")) file.normalizer = make_normalizer(root.at("normalizer"));
  if (json_has(root, "pre_tokenizer")) {
    const json& node = root.at("pre_tokenizer");
    file.raw_bytes = file.model.byte_model != nullptr && ends_in_byte_level(node);
    file.pretokenizer = make_pretokenizer(node, file.raw_bytes ? ByteLevelForm::kRaw : ByteLevelForm::kSpelled);
  }
  if (json_has(root, "decoder")) file.decoder = make_decoder(root.at("decoder"));
  if (json_has(root, "added_tokens")) {
    for (const json& token : json_list(root, "added_tokens")) file.added.push_back(read_added(token));
  }
  if (json_has(root, "post_processor")) read_post_processor(root.at("post_processor"), file);
}

/// vocab.json with merges.txt: GPT-2's way of cutting and its one special token.
void read_gpt2_files(const json& vocabulary, const std::string& merges, HfFile& file) {
  file.model = read_gpt2_model(vocabulary, merges);
  if (file.model.byte_model == nullptr)
    fail<RuntimeError>("a byte has no token; only byte-level BPE has these two files");
  file.raw_bytes = true;
  file.pretokenizer = make_pretokenizer({{"type", "ByteLevel"}, {"add_prefix_space", false}}, ByteLevelForm::kRaw);
  file.decoder = make_decoder({{"type", "ByteLevel"}});
  const char* const end_of_text = "<|endoftext|>";
  if (const auto id = file.model.table->find(end_of_text)) {
    file.added.push_back({.content = end_of_text, .id = *id, .special = true});
  }
}

/// The first of these that is an added token.
std::optional<int32_t> first_of(const HfFile& file, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const AddedToken& token : file.added) {
      if (token.content == name) return token.id;
    }
  }
  return std::nullopt;
}

void find_roles(HfFile& file) {
  SpecialIds& special = file.special;
  special.bos = first_of(file, {"<|begin_of_text|>", "<|startoftext|>", "<s>", "<bos>", "[CLS]", "<|endoftext|>"});
  special.eos = first_of(file, {"<|end_of_text|>", "</s>", "<eos>", "[SEP]", "<|endoftext|>", "<|eot_id|>"});
  special.pad = first_of(file, {"<|finetune_right_pad_id|>", "<pad>", "[PAD]", "<|padding|>", "<|pad|>"});
  special.unk = first_of(file, {"<unk>", "[UNK]", "<|unk|>"});
  if (!file.before.empty()) special.bos = file.before.back();
  if (!file.after.empty()) special.eos = file.after.front();
  if (file.model.unknown) special.unk = file.model.unknown;
}

HfFile read(const std::filesystem::path& path) {
  HfFile file;
  const std::string text = read_file(path);
  Digest digest;
  digest.update(text);
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) fail<RuntimeError>("is no JSON object");
  if (root.contains("model")) {
    read_tokenizer_json(root, file);
  } else {
    const std::string merges = read_file(path.parent_path() / "merges.txt");
    digest.update(merges);
    read_gpt2_files(root, merges, file);
  }
  find_roles(file);
  file.fingerprint = "hf-" + digest.hex().substr(0, 16);
  return file;
}

}  // namespace

HfFile read_hf_file(const std::filesystem::path& path) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(path)) {
    file /= std::filesystem::exists(path / "tokenizer.json") ? "tokenizer.json" : "vocab.json";
  }
  try {
    return read(file);
  } catch (const ConfigError& error) {
    fail<RuntimeError>("{}: {}", file.string(), error.what());
  } catch (const RuntimeError& error) {
    if (std::string_view(error.what()).starts_with(file.string())) throw;
    fail<RuntimeError>("{}: {}", file.string(), error.what());
  }
}

}  // namespace pax::data
