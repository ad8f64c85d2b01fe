#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pax/data/tokenizer.h"

namespace pax::data {

/// A Hugging Face `tokenizer.json` (BPE, byte-level or with byte fallback, WordPiece, WordLevel, Unigram, with their
/// normalizers, pre-tokenizers and decoders), or GPT-2's `vocab.json` with `merges.txt` beside it.
class HfTokenizer final : public Tokenizer {
 public:
  struct Config {
    using Product = HfTokenizer;
    static constexpr std::string_view kName = "pax.HfTokenizer";
    static constexpr std::string_view kDoc = "Ids of a Hugging Face tokenizer.json.";
    Required<std::string> path{};
    std::optional<std::string> bos_token{}, eos_token{}, pad_token{}, unk_token{};
    static void fields(auto& self, auto&& visit) {
      visit("path", self.path, "tokenizer.json, or vocab.json with merges.txt beside it, or the folder of either.");
      visit("bos_token", self.bos_token,
            "Unset: as the file's template has it, or by its usual names; likewise the rest.");
      visit("eos_token", self.eos_token);
      visit("pad_token", self.pad_token);
      visit("unk_token", self.unk_token);
    }
  };

  /// Throws RuntimeError naming the file and what in it is wrong or not supported.
  explicit HfTokenizer(const Config& config);
  ~HfTokenizer() override;

  using Tokenizer::encode;
  /// Added tokens are taken from text where they stand in it. Text that is not UTF-8 is repaired first.
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  /// With what the file's post-processor puts around one text: `[CLS]` … `[SEP]`.
  std::vector<int32_t> encode_with_template(std::string_view text) const;

  /// Leaves special tokens out.
  std::string decode(std::span<const int32_t> ids) const override;
  std::string decode_with_specials(std::span<const int32_t> ids) const override;
  std::vector<std::string> encode_pieces(std::string_view text) const override;
  std::string normalize(std::string_view text) const override;
  std::string piece(int32_t id) const override;
  int32_t vocab_size() const override;
  SpecialIds special_ids() const override;
  std::string fingerprint() const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::HfTokenizer::Config>();
