#pragma once

#include <memory>
#include <vector>

#include "pax/data/data_source.h"
#include "pax/data/input.h"
#include "pax/data/permutation.h"
#include "pax/data/tokenizer.h"

namespace pax::data {

/// From a record to the ids of one row (Lingvo's record processor).
class RecordProcessor {
 public:
  using Kind = RecordProcessor;
  virtual ~RecordProcessor() = default;
  /// Ids of a record, bos first and eos last as wanted; empty: the record is left out.
  virtual std::vector<int32_t> process(const Example& example) const = 0;
  virtual const Tokenizer& tokenizer() const = 0;
};

/// Tokenises one text field.
class TextProcessor final : public RecordProcessor {
 public:
  struct Config {
    using Product = TextProcessor;
    static constexpr std::string_view kName = "pax.TextProcessor";
    std::string field = "text";
    Tpl<Tokenizer> tokenizer = BytesTokenizer::Config{};
    static void fields(auto& self, auto&& visit) {
      visit("field", self.field, "The record's text.");
      visit("tokenizer", self.tokenizer, "Text to ids; bos and eos are added where it has them.");
    }
  };
  explicit TextProcessor(const Config& config) : field_(config.field), tokenizer_(config.tokenizer.build()) {}
  std::vector<int32_t> process(const Example& example) const override;
  const Tokenizer& tokenizer() const override { return *tokenizer_; }

 private:
  std::string field_;
  std::shared_ptr<Tokenizer> tokenizer_;
};

/// Batches of rows of like length, as Lingvo's inputs make them. A record goes to the first bucket whose upper bound it
/// fits; when a bucket has enough rows for all hosts they become a batch. All hosts see the same order, so they agree
/// on every batch's bucket. Longer records are left out. At the end of finite data open buckets are padded and given
/// out.
class BucketInput final : public Input {
 public:
  struct Config : InputConfig {
    using Product = BucketInput;
    static constexpr std::string_view kName = "lingvo.core.base_input_generator.BaseSequenceInputGenerator";
    static constexpr std::string_view kDoc = "Records bucketed by length.";
    Tpl<DataSource> source{};
    Tpl<RecordProcessor> processor = TextProcessor::Config{};
    std::vector<int64_t> bucket_upper_bound{};
    std::vector<int64_t> bucket_batch_limit{};
    bool pad_to_max_seq_length = false;
    std::optional<bool> shuffle{};
    std::optional<bool> repeat{};
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("source", self.source, "The records.");
      visit("processor", self.processor, "From a record to ids.");
      visit("bucket_upper_bound", self.bucket_upper_bound, {.doc = "Longest row of each bucket, rising.", .min = 1});
      visit("bucket_batch_limit", self.bucket_batch_limit,
            {.doc = "Rows of a host's batch from each bucket; empty: batch_size from all.", .min = 1});
      visit("pad_to_max_seq_length", self.pad_to_max_seq_length, "Pad every batch to the longest bucket: one shape.");
      visit("shuffle", self.shuffle, "Unset: when training.");
      visit("repeat", self.repeat, "Unset: when training.");
    }
  };

  explicit BucketInput(const Config& config);

  /// Of the last bucket; other batches are shorter unless `pad_to_max_seq_length`.
  BatchSpec spec() const override;
  const Tokenizer* tokenizer() const override { return &processor_->tokenizer(); }

 protected:
  std::optional<HostTree> produce() override;
  void rewind() override;
  std::string save_position() const override;
  void restore_position(std::span<const std::string> states) override;
  void check_first(const HostTree&) const override {}

 private:
  struct Row {
    int64_t position;  ///< in the global order
    std::vector<int32_t> ids;
  };
  std::vector<int32_t> ids_at(int64_t position) const;
  HostTree make_batch(size_t bucket);
  int64_t limit(size_t bucket) const { return limits_.empty() ? share().batch_size : limits_[bucket]; }

  std::shared_ptr<DataSource> source_;
  std::shared_ptr<RecordProcessor> processor_;
  DatasetIdentity identity_;
  std::vector<int64_t> bounds_, limits_;
  bool pad_to_longest_;
  bool repeat_;
  EpochOrder order_;
  int64_t next_position_ = 0;
  std::vector<std::vector<Row>> buckets_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::TextProcessor::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::BucketInput::Config>();
