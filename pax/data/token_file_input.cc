#include "pax/data/token_file_input.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/data/file_pattern.h"

namespace pax::data {
namespace {

TokenBlocks open_blocks(const TokenFileInput::Config& config) {
  TokenBlocks blocks(*config.seq_len, static_cast<int32_t>(config.bos_id));
  for (const auto& path : expand_file_pattern(*config.path)) blocks.add(open_token_file(path, config.width));
  return blocks;
}

}  // namespace

Walk TokenFileInput::walk(const Config& config, const TokenBlocks& blocks) {
  Walk walk{.num_records = blocks.size(), .identity = identify_files(expand_file_pattern(*config.path))};
  walk.identity.fingerprint = Digest().update(fmt::format("{} {}", walk.identity.fingerprint, *config.seq_len)).hex();
  walk.mode = config.shuffle.value_or(config.is_training) ? EpochOrder::Mode::kShuffled : EpochOrder::Mode::kSequential;
  walk.epochs = config.num_epochs;
  if (!walk.epochs && !config.is_training) walk.epochs = 1;
  return walk;
}

TokenFileInput::TokenFileInput(const Config& config) : TokenFileInput(config, open_blocks(config)) {}

TokenFileInput::TokenFileInput(const Config& config, TokenBlocks blocks)
    : IndexedInput(config, walk(config, blocks)), blocks_(std::move(blocks)) {}

HostTree TokenFileInput::make_batch(std::span<const int64_t> records) {
  LmBatch batch(static_cast<int64_t>(records.size()), blocks_.seq_len());
  for (size_t row = 0; row < records.size(); ++row) {
    if (records[row] != kPadding) blocks_.append_to(batch, static_cast<int64_t>(row), records[row]);
  }
  return batch.take();
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::TokenFileInput::Config>();
