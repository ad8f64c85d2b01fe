#include "pax/data/sentencepiece_tokenizer.h"

#include <sentencepiece_processor.h>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/hash.h"

namespace pax::data {

struct SentencePieceTokenizer::Library {
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

absl::string_view as_absl(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(const Config& config) : library_(std::make_unique<Library>()) {
  const std::string model = read_file(*config.path);
  const auto status = library_->processor.LoadFromSerializedProto(model);
  if (!status.ok()) {
    fail<RuntimeError>("{}: no SentencePiece model: {}", *config.path, std::string(status.message()));
  }
  fingerprint_ = "sentencepiece-" + Digest().update(model).hex().substr(0, 16);
}

SentencePieceTokenizer::~SentencePieceTokenizer() = default;

void SentencePieceTokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const {
  std::vector<int> made;
  const auto status = library_->processor.Encode(as_absl(text), &made);
  if (!status.ok()) fail<RuntimeError>("SentencePiece: {}", std::string(status.message()));
  ids.insert(ids.end(), made.begin(), made.end());
}

std::vector<std::string> SentencePieceTokenizer::encode_pieces(std::string_view text) const {
  return library_->processor.EncodeAsPieces(as_absl(text));
}

std::string SentencePieceTokenizer::normalize(std::string_view text) const {
  return library_->processor.Normalize(as_absl(text));
}

std::string SentencePieceTokenizer::decode(std::span<const int32_t> ids) const {
  std::vector<int> known(ids.begin(), ids.end());
  for (int& id : known) {
    if (id < 0 || id >= vocab_size()) id = library_->processor.unk_id();
  }
  return library_->processor.DecodeIds(known);
}

std::string SentencePieceTokenizer::piece(int32_t id) const {
  if (id < 0 || id >= vocab_size()) return "<?>";
  return library_->processor.IdToPiece(id);
}

int32_t SentencePieceTokenizer::vocab_size() const { return library_->processor.GetPieceSize(); }

SpecialIds SentencePieceTokenizer::special_ids() const {
  const auto given = [](int id) { return id >= 0 ? std::optional<int32_t>(id) : std::nullopt; };
  const auto& processor = library_->processor;
  return {.pad = given(processor.pad_id()),
          .bos = given(processor.bos_id()),
          .eos = given(processor.eos_id()),
          .unk = given(processor.unk_id())};
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::SentencePieceTokenizer::Config>();
