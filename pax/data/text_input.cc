#include "pax/data/text_input.h"

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/base/text.h"
#include "pax/data/file_pattern.h"

namespace pax::data {

int64_t HeldOut::num_eval() const {
  if (eval_every == 0) return num_blocks;
  if (num_blocks >= eval_every) return num_blocks / eval_every;
  return num_blocks >= 2 ? 1 : 0;
}

int64_t HeldOut::train_block(int64_t index) const {
  if (eval_every == 0 || num_blocks < eval_every) return index;
  return index + index / (eval_every - 1);
}

int64_t HeldOut::eval_block(int64_t index) const {
  if (eval_every == 0) return index;
  if (num_blocks < eval_every) return num_blocks - 1;
  return index * eval_every + eval_every - 1;
}

TextInput::Source TextInput::open(const Config& config) {
  if (config.eval_every == 1) {
    fail<ConfigError>("input {}: eval_every is 1, which holds out every block; use 2 or more, or 0 for no split",
                      config.name);
  }
  const std::shared_ptr<Tokenizer> tokenizer = config.tokenizer.build();
  const SpecialIds special = tokenizer->special_ids();
  Source source{tokenizer, TokenBlocks(*config.seq_len, special.bos.value_or(special.eos.value_or(0))), {}};
  const std::vector<std::filesystem::path> paths = expand_file_pattern(*config.path);
  const TextOptions options{config.allow_binary ? BinaryText::kAllow : BinaryText::kRefuse, config.token_cache_dir};
  for (const std::filesystem::path& path : paths) source.blocks.add(open_text(path, *tokenizer, options));
  source.identity = identify_files(paths);
  source.identity.fingerprint = Digest()
                                    .update(source.identity.fingerprint)
                                    .update(source.tokenizer->fingerprint())
                                    .update(fmt::format(" {} {}", *config.seq_len, config.eval_every))
                                    .hex();
  source.identity.name += fmt::format(", tokenizer {}, seq_len {}", source.tokenizer->fingerprint(), *config.seq_len);
  return source;
}

Walk TextInput::walk(const Config& config, const Source& source) {
  const HeldOut split{source.blocks.size(), config.eval_every};
  const int64_t records = config.is_training ? split.num_train() : split.num_eval();
  if (records == 0) {
    fail<RuntimeError>(
        "input {}: {} has {} block(s) of {} ids, too few to hold one out; give a longer text or a smaller "
        "seq_len",
        config.name, *config.path, source.blocks.size(), *config.seq_len);
  }
  const bool shuffle = config.shuffle.value_or(config.is_training);
  std::optional<int64_t> epochs = config.num_epochs;
  if (!epochs && !config.is_training) epochs = 1;
  return {.num_records = records,
          .identity = source.identity,
          .mode = shuffle ? EpochOrder::Mode::kShuffled : EpochOrder::Mode::kSequential,
          .epochs = epochs};
}

TextInput::TextInput(const Config& config) : TextInput(config, open(config)) {}

TextInput::TextInput(const Config& config, Source source)
    : IndexedInput(config, walk(config, source)), source_(std::move(source)), eval_every_(config.eval_every) {}

HostTree TextInput::make_batch(std::span<const int64_t> records) {
  const HeldOut split{source_.blocks.size(), eval_every_};
  LmBatch batch(static_cast<int64_t>(records.size()), source_.blocks.seq_len());
  for (size_t row = 0; row < records.size(); ++row) {
    if (records[row] == kPadding) continue;
    const int64_t block = common().is_training ? split.train_block(records[row]) : split.eval_block(records[row]);
    source_.blocks.append_to(batch, static_cast<int64_t>(row), block);
  }
  return batch.take();
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::TextInput::Config>();
