#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pax/data/tokenizer.h"

namespace pax::data {

/// A SentencePiece model (unigram, BPE, with or without byte fallback), by the library itself.
class SentencePieceTokenizer final : public Tokenizer {
 public:
  struct Config {
    using Product = SentencePieceTokenizer;
    static constexpr std::string_view kName = "pax.SentencePieceTokenizer";
    static constexpr std::string_view kDoc = "Ids of a SentencePiece model file.";
    Required<std::string> path{};
    static void fields(auto& self, auto&& visit) { visit("path", self.path, "The .model file."); }
  };

  /// Throws RuntimeError naming the file.
  explicit SentencePieceTokenizer(const Config& config);
  ~SentencePieceTokenizer() override;

  using Tokenizer::encode;
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::vector<std::string> encode_pieces(std::string_view text) const override;
  std::string normalize(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  int32_t vocab_size() const override;
  SpecialIds special_ids() const override;
  std::string fingerprint() const override { return fingerprint_; }

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string fingerprint_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::SentencePieceTokenizer::Config>();
