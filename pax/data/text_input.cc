#include "pax/data/text_input.h"

#include <algorithm>

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
  Source source;
  source.tokenizer = config.tokenizer.build();
  const std::vector<std::filesystem::path> paths = expand_file_pattern(*config.path);
  const TextOptions options{config.allow_binary ? BinaryText::kAllow : BinaryText::kRefuse, config.token_cache_dir};
  source.first_block = {0};
  for (const std::filesystem::path& path : paths) {
    source.files.push_back(open_text(path, *source.tokenizer, options));
    const int64_t ids = source.files.back()->size();
    source.first_block.push_back(source.first_block.back() + (ids + *config.seq_len - 1) / *config.seq_len);
  }
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
  const HeldOut split{source.num_blocks(), config.eval_every};
  const int64_t records = config.is_training ? split.num_train() : split.num_eval();
  if (records == 0) {
    fail<RuntimeError>(
        "input {}: {} has {} block(s) of {} ids, too few to hold one out; give a longer text or a smaller "
        "seq_len",
        config.name, *config.path, source.num_blocks(), *config.seq_len);
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
    : IndexedInput(config, walk(config, source)),
      source_(std::move(source)),
      seq_len_(*config.seq_len),
      eval_every_(config.eval_every) {}

HostTree TextInput::make_batch(std::span<const int64_t> records) {
  const HeldOut split{source_.num_blocks(), eval_every_};
  const SpecialIds special = source_.tokenizer->special_ids();
  const int32_t begin = special.bos.value_or(special.eos.value_or(0));
  LmBatch batch(static_cast<int64_t>(records.size()), seq_len_);
  std::vector<int32_t> ids(static_cast<size_t>(seq_len_) + 1);
  const std::vector<float> ones(static_cast<size_t>(seq_len_), 1.0F);
  for (size_t row = 0; row < records.size(); ++row) {
    if (records[row] == kPadding) continue;
    const int64_t block = common().is_training ? split.train_block(records[row]) : split.eval_block(records[row]);
    const auto after = std::upper_bound(source_.first_block.begin(), source_.first_block.end(), block);
    const auto file = static_cast<size_t>(after - source_.first_block.begin()) - 1;
    const TokenStream& stream = *source_.files[file];
    const int64_t start = (block - source_.first_block[file]) * seq_len_;
    const auto length = static_cast<size_t>(std::min(seq_len_, stream.size() - start));
    const size_t lead = start == 0 ? 0 : 1;
    ids[0] = begin;
    stream.copy(start - static_cast<int64_t>(lead), std::span(ids).subspan(1 - lead, length + lead));
    batch.append(static_cast<int64_t>(row), std::span(ids).first(length), std::span(ids).subspan(1, length),
                 std::span(ones).first(length));
  }
  return batch.take();
}

}  // namespace pax::data
