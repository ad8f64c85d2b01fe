#include "pax/data/line_input.h"

#include <algorithm>

#include "pax/base/hash.h"

namespace pax::data {

LineInput::Source LineInput::open(const Config& config) {
  FileSource::Config files;
  files.file_pattern = *config.input_file;
  files.format = RecordFormat::kText;
  Source source{config.tokenizer.build(), std::make_unique<FileSource>(files)};
  source.lines->require_whole();
  return source;
}

Walk LineInput::walk(const Config& config, const Source& source) {
  Walk walk{.num_records = source.lines->size(), .identity = source.lines->identity()};
  if (config.num_samples > 0) walk.num_records = std::min(walk.num_records, config.num_samples);
  walk.identity.fingerprint = Digest().update(walk.identity.fingerprint).update(source.tokenizer->fingerprint()).hex();
  return walk;
}

LineInput::LineInput(const Config& config) : LineInput(config, open(config)) {}

LineInput::LineInput(const Config& config, Source source)
    : IndexedInput(config, walk(config, source)), source_(std::move(source)), max_length_(config.max_sequence_length) {}

HostTree LineInput::make_batch(std::span<const int64_t> records) {
  const SpecialIds special = source_.tokenizer->special_ids();
  LmBatch batch(static_cast<int64_t>(records.size()), max_length_);
  std::vector<int32_t> ids;
  for (size_t row = 0; row < records.size(); ++row) {
    if (records[row] == kPadding) continue;
    ids.assign(1, special.bos.value_or(special.eos.value_or(0)));
    source_.tokenizer->encode(source_.lines->at(records[row]).text("text"), ids);
    ids.push_back(special.eos.value_or(0));
    const size_t length = std::min(ids.size() - 1, static_cast<size_t>(max_length_));
    const std::vector<float> ones(length, 1.0F);
    const std::span<const int32_t> all(ids);
    batch.append(static_cast<int64_t>(row), all.first(length), all.subspan(1, length), ones);
  }
  return batch.take();
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::LineInput::Config>();
