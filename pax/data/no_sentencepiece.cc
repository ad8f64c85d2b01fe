#include "pax/base/error.h"
#include "pax/data/sentencepiece_tokenizer.h"

namespace pax::data {

struct SentencePieceTokenizer::Library {};

SentencePieceTokenizer::SentencePieceTokenizer(const Config& config) {
  fail<RuntimeError>("{}: this build has no SentencePiece; run scripts/setup and build again", *config.path);
}
SentencePieceTokenizer::~SentencePieceTokenizer() = default;
void SentencePieceTokenizer::encode(std::string_view, std::vector<int32_t>&) const {}
std::vector<std::string> SentencePieceTokenizer::encode_pieces(std::string_view) const { return {}; }
std::string SentencePieceTokenizer::normalize(std::string_view) const { return {}; }
std::string SentencePieceTokenizer::decode(std::span<const int32_t>) const { return {}; }
std::string SentencePieceTokenizer::piece(int32_t) const { return {}; }
int32_t SentencePieceTokenizer::vocab_size() const { return 0; }
SpecialIds SentencePieceTokenizer::special_ids() const { return {}; }

}  // namespace pax::data
