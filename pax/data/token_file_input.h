#pragma once

#include "pax/data/indexed_input.h"
#include "pax/data/token_blocks.h"

namespace pax::data {

/// Blocks of `seq_len` ids cut from files of ids (`.bin`, as nanoGPT and Megatron write them), one block a row; each id
/// is the label of one position, its input the id before it.
class TokenFileInput final : public IndexedInput {
 public:
  struct Config : InputConfig {
    using Product = TokenFileInput;
    static constexpr std::string_view kName = "pax.TokenFileInput";
    static constexpr std::string_view kDoc = "Language-model batches cut from files of ids.";
    Required<std::string> path{};
    Required<int64_t> seq_len{};
    IdWidth width = IdWidth::kU16;
    int64_t bos_id = 0;
    std::optional<bool> shuffle{};
    std::optional<int64_t> num_epochs{};
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("path", self.path, "A file, a glob, or several separated by commas.");
      visit("seq_len", self.seq_len, {.doc = "Ids in a row.", .min = 1});
      visit("width", self.width, "Of an id in the file: uint16 or int32, little-endian.");
      visit("bos_id", self.bos_id, "The input before a file's first id.");
      visit("shuffle", self.shuffle, "Unset: shuffle when training.");
      visit("num_epochs", self.num_epochs,
            {.doc = "Passes over the data. Unset: endless in training, else 1.", .min = 1});
    }
  };

  explicit TokenFileInput(const Config& config);
  BatchSpec spec() const override { return lm_batch_spec(share().batch_size, blocks_.seq_len()); }

 protected:
  HostTree make_batch(std::span<const int64_t> records) override;

 private:
  static Walk walk(const Config& config, const TokenBlocks& blocks);
  TokenFileInput(const Config& config, TokenBlocks blocks);

  TokenBlocks blocks_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::TokenFileInput::Config>();
