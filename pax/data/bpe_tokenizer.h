#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pax/data/tokenizer.h"

namespace pax::data {

/// A Hugging Face `tokenizer.json` with a byte-level BPE model (GPT-2, Llama 3, Qwen and their like), or GPT-2's
/// `vocab.json` with `merges.txt` beside it.
class BpeTokenizer final : public Tokenizer {
 public:
  struct Config {
    using Product = BpeTokenizer;
    static constexpr std::string_view kName = "pax.BpeTokenizer";
    static constexpr std::string_view kDoc = "Byte-level BPE from a Hugging Face tokenizer.json.";
    Required<std::string> path{};
    std::optional<std::string> bos_token{}, eos_token{}, pad_token{}, unk_token{};
    static void fields(auto& self, auto&& visit) {
      visit("path", self.path, "tokenizer.json, or vocab.json with merges.txt beside it, or the folder of either.");
      visit("bos_token", self.bos_token, "Unset: found by its usual names; likewise the others.");
      visit("eos_token", self.eos_token);
      visit("pad_token", self.pad_token);
      visit("unk_token", self.unk_token);
    }
  };

  /// Throws RuntimeError naming the file and what in it is not supported.
  explicit BpeTokenizer(const Config& config);
  ~BpeTokenizer() override;

  using Tokenizer::encode;
  /// Special tokens are taken from text where they stand in it. Text that is not UTF-8 is repaired first.
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  /// Leaves special tokens out.
  std::string decode(std::span<const int32_t> ids) const override;
  std::string decode_with_specials(std::span<const int32_t> ids) const override;
  std::string piece(int32_t id) const override;
  int32_t vocab_size() const override;
  SpecialIds special_ids() const override;
  std::string fingerprint() const override;

 private:
  struct Model;
  std::unique_ptr<Model> model_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::BpeTokenizer::Config>();
