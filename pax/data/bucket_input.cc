#include "pax/data/bucket_input.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/data/indexed_input.h"

namespace pax::data {

std::vector<int32_t> TextProcessor::process(const Example& example) const {
  const SpecialIds special = tokenizer_->special_ids();
  std::vector<int32_t> ids;
  if (special.bos) ids.push_back(*special.bos);
  tokenizer_->encode(example.text(field_), ids);
  if (special.eos) ids.push_back(*special.eos);
  return ids;
}

BucketInput::BucketInput(const Config& config)
    : Input(config),
      source_(config.source.build()),
      processor_(config.processor.build()),
      identity_(source_->identity()),
      bounds_(config.bucket_upper_bound),
      limits_(config.bucket_batch_limit),
      pad_to_longest_(config.pad_to_max_seq_length),
      repeat_(config.repeat.value_or(config.is_training)),
      order_(
          source_->size(), seed(),
          config.shuffle.value_or(config.is_training) ? EpochOrder::Mode::kShuffled : EpochOrder::Mode::kSequential) {
  if (source_->size() == 0) fail<RuntimeError>("input {}: {} holds no records", name(), identity_.name);
  source_->require_whole();
  if (bounds_.empty() || !std::ranges::is_sorted(bounds_, std::less_equal<>())) {
    fail<ConfigError>("input {}: bucket_upper_bound must be a rising list of lengths", name());
  }
  if (!limits_.empty() && limits_.size() != bounds_.size()) {
    fail<ConfigError>("input {}: {} bucket_upper_bound but {} bucket_batch_limit; give as many, or no limits", name(),
                      bounds_.size(), limits_.size());
  }
  identity_.fingerprint = Digest().update(identity_.fingerprint).update(processor_->tokenizer().fingerprint()).hex();
  rewind();
}

BatchSpec BucketInput::spec() const { return lm_batch_spec(limit(bounds_.size() - 1), bounds_.back()); }

void BucketInput::rewind() {
  next_position_ = 0;
  buckets_.assign(bounds_.size(), {});
}

std::vector<int32_t> BucketInput::ids_at(int64_t position) const {
  return processor_->process(source_->at(order_(position)));
}

std::optional<HostTree> BucketInput::produce() {
  int64_t useless = 0;
  while (repeat_ || next_position_ < source_->size()) {
    const int64_t position = next_position_++;
    std::vector<int32_t> ids = ids_at(position);
    // A row holds one id less than the record: ids without the last, labels without the first.
    const auto length = static_cast<int64_t>(ids.size()) - 1;
    const auto bucket = static_cast<size_t>(std::ranges::lower_bound(bounds_, length) - bounds_.begin());
    if (length < 1 || bucket == bounds_.size()) {
      if (++useless > source_->size()) {
        fail<RuntimeError>("input {}: no record of {} fits the longest bucket of {}", name(), identity_.name,
                           bounds_.back());
      }
      continue;
    }
    buckets_[bucket].push_back({position, std::move(ids)});
    if (static_cast<int64_t>(buckets_[bucket].size()) == limit(bucket) * share().num_hosts) return make_batch(bucket);
  }
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (!buckets_[bucket].empty()) return make_batch(bucket);
  }
  return std::nullopt;
}

HostTree BucketInput::make_batch(size_t bucket) {
  const int64_t rows = limit(bucket);
  LmBatch batch(rows, pad_to_longest_ ? bounds_.back() : bounds_[bucket]);
  for (int64_t r = 0; r < rows; ++r) {
    const auto at = static_cast<size_t>(share().host * rows + r);
    if (at >= buckets_[bucket].size()) break;
    const std::span<const int32_t> ids(buckets_[bucket][at].ids);
    const std::vector<float> ones(ids.size() - 1, 1.0F);
    batch.append(r, ids.first(ids.size() - 1), ids.subspan(1), ones);
  }
  buckets_[bucket].clear();
  return batch.take();
}

std::string BucketInput::save_position() const {
  nlohmann::json open = nlohmann::json::array();
  for (const auto& bucket : buckets_) {
    nlohmann::json positions = nlohmann::json::array();
    for (const Row& row : bucket) positions.push_back(row.position);
    open.push_back(std::move(positions));
  }
  return nlohmann::json{{"position", next_position_},
                        {"open", std::move(open)},
                        {"dataset", identity_.fingerprint},
                        {"dataset_name", identity_.name}}
      .dump();
}

void BucketInput::restore_position(std::span<const std::string> states) {
  rewind();
  try {
    const nlohmann::json state = nlohmann::json::parse(states.front());
    const DatasetIdentity saved{state.at("dataset_name"), state.at("dataset")};
    if (!same_dataset(saved, identity_, common().on_dataset_change, name())) return;
    next_position_ = state.at("position");
    const auto& open = state.at("open");
    if (open.size() != buckets_.size()) {
      fail<RuntimeError>("input {}: the saved position has {} buckets, this run has {}", name(), open.size(),
                         buckets_.size());
    }
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      for (const int64_t position : open.at(bucket)) buckets_[bucket].push_back({position, ids_at(position)});
    }
  } catch (const nlohmann::json::exception&) {
    fail<RuntimeError>("input {}: saved position \"{:.80}\" is damaged or of another kind of input", name(),
                       states.front());
  }
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::TextProcessor::Config>();
template const pax::config::ConfigType& pax::config::type_of<pax::data::BucketInput::Config>();
