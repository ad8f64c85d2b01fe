#include "pax/data/open_tokenizer.h"

#include <filesystem>

#include "pax/base/error.h"
#include "pax/data/hf_tokenizer.h"
#include "pax/data/sentencepiece_tokenizer.h"

namespace pax::data {
namespace {

std::shared_ptr<const Tokenizer> open_sentencepiece(const std::filesystem::path& path) {
  SentencePieceTokenizer::Config config;
  config.path = path.string();
  return std::make_shared<SentencePieceTokenizer>(config);
}

std::shared_ptr<const Tokenizer> open_json(const std::filesystem::path& path) {
  HfTokenizer::Config config;
  config.path = path.string();
  return std::make_shared<HfTokenizer>(config);
}

}  // namespace

std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& name) {
  if (name == "bytes") return std::make_shared<BytesTokenizer>();
  const std::filesystem::path path(name);
  if (!std::filesystem::exists(path)) {
    fail<RuntimeError>(
        "{}: there is no such file; a tokenizer is \"bytes\", a .model file, a tokenizer.json, or a folder", name);
  }
  if (path.extension() == ".model") return open_sentencepiece(path);
  if (!std::filesystem::is_directory(path)) return open_json(path);
  for (const char* file : {"tokenizer.json", "vocab.json"}) {
    if (std::filesystem::exists(path / file)) return open_json(path);
  }
  for (const char* file : {"tokenizer.model", "spiece.model", "sentencepiece.model"}) {
    if (std::filesystem::exists(path / file)) return open_sentencepiece(path / file);
  }
  fail<RuntimeError>("{}: holds no tokenizer.json, vocab.json, tokenizer.model or spiece.model", name);
}

}  // namespace pax::data
