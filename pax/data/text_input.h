#pragma once

#include <memory>

#include "pax/data/indexed_input.h"
#include "pax/data/token_blocks.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

/// Blocks of `seq_len` ids cut from text files, one block a row; every id of the text is the label of one position, and
/// its input is the id before it (bos for the first of a file). Blocks are shuffled by one global permutation an epoch.
/// Every `eval_every`-th block is held out: training inputs never see it, eval inputs (`is_training` false) see only
/// it.
class TextInput final : public IndexedInput {
 public:
  struct Config : InputConfig {
    using Product = TextInput;
    static constexpr std::string_view kName = "pax.TextInput";
    static constexpr std::string_view kDoc = "Language-model batches cut from plain text files.";
    Required<std::string> path{};
    Required<int64_t> seq_len{};
    Tpl<Tokenizer> tokenizer = BytesTokenizer::Config{};
    int64_t eval_every = 20;
    std::optional<bool> shuffle{};
    std::optional<int64_t> num_epochs{};
    bool allow_binary = false;
    std::string token_cache_dir;
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("path", self.path, "A text file, a glob, or several separated by commas.");
      visit("seq_len", self.seq_len, {.doc = "Ids in a row.", .min = 1});
      visit("tokenizer", self.tokenizer, "Text to ids.");
      visit("eval_every", self.eval_every,
            {.doc = "Hold out every n-th block for evaluation; 0: train and evaluate on all.", .min = 0});
      visit("shuffle", self.shuffle, "Unset: shuffle when training.");
      visit("num_epochs", self.num_epochs,
            {.doc = "Passes over the data. Unset: endless in training, else 1.", .min = 1});
      visit("allow_binary", self.allow_binary, "Accept files that do not look like text.");
      visit("token_cache_dir", self.token_cache_dir, "Keep the ids of tokenised files here.");
    }
  };

  explicit TextInput(const Config& config);

  BatchSpec spec() const override { return lm_batch_spec(share().batch_size, source_.blocks.seq_len()); }
  const Tokenizer* tokenizer() const override { return source_.tokenizer.get(); }

 protected:
  HostTree make_batch(std::span<const int64_t> records) override;

 private:
  struct Source {
    std::shared_ptr<Tokenizer> tokenizer;
    TokenBlocks blocks;
    DatasetIdentity identity;
  };
  static Source open(const Config& config);
  static Walk walk(const Config& config, const Source& source);
  TextInput(const Config& config, Source source);

  Source source_;
  int64_t eval_every_;
};

/// Which blocks of `num_blocks` are held out when every `eval_every`-th is, the last of each group; with fewer blocks
/// than that the last one is, if there are two.
struct HeldOut {
  int64_t num_blocks;
  int64_t eval_every;

  int64_t num_eval() const;
  int64_t num_train() const { return eval_every == 0 ? num_blocks : num_blocks - num_eval(); }
  int64_t train_block(int64_t index) const;
  int64_t eval_block(int64_t index) const;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::TextInput::Config>();
