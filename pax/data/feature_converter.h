#pragma once

#include <string>

#include "pax/array/tree.h"
#include "pax/data/packing.h"
#include "pax/data/task.h"

namespace pax::data {

/// From task features to what a model takes (seqio.FeatureConverter).
class FeatureConverter {
 public:
  using Kind = FeatureConverter;
  virtual ~FeatureConverter() = default;

  /// Features that go into a row and their lengths there. Throws ConfigError when a feature it needs is missing.
  virtual FeatureLengths row_lengths(const FeatureLengths& task_lengths) const = 0;
  /// The ids of those features.
  virtual IntRow prepare(const Example& example) const = 0;
  /// The model's fields of one row, without the batch dimension.
  virtual HostTree convert(const IntRow& row) const = 0;
  /// Whether examples share rows.
  virtual bool packs() const { return false; }
};

/// Fields ids, labels, weights, paddings, segment_ids, segment_pos, and inputs_indicator when the task has `inputs`:
/// then inputs and targets are joined, 1 marks positions that see all inputs. Negative ids carry no loss.
class LanguageModelFeatures : public FeatureConverter {
 public:
  struct Config {
    using Product = LanguageModelFeatures;
    static constexpr std::string_view kName = "paxml.seqio_input.LanguageModelFeatures";
    static constexpr std::string_view kDoc = "Decoder-only language model batches.";
    bool pack = false;
    std::optional<bool> weights_on_targets_only{};
    int64_t bos_id = 0;
    bool reverse_bos_padding = false;
    int64_t eos_id = 1;
    static void fields(auto& self, auto&& visit) {
      visit("pack", self.pack, "Put several examples into one row.");
      visit("weights_on_targets_only", self.weights_on_targets_only,
            "Unset: negative ids weigh nothing. True: nor do inputs. False: all but padding weighs 1.");
      visit("bos_id", self.bos_id, "The input before a segment's first label.");
      visit("reverse_bos_padding", self.reverse_bos_padding, "Inputs are the ids; labels end with eos_id instead.");
      visit("eos_id", self.eos_id);
    }
  };

  explicit LanguageModelFeatures(const Config& config) : config_(config) {}
  FeatureLengths row_lengths(const FeatureLengths& task_lengths) const override;
  IntRow prepare(const Example& example) const override;
  HostTree convert(const IntRow& row) const override;
  bool packs() const override { return config_.pack; }

 private:
  Config config_;
};

/// Fields src/{ids,paddings,segment_ids,segment_pos} and tgt/{ids,labels,weights,paddings,segment_ids,segment_pos}.
class SequenceModelFeatures : public FeatureConverter {
 public:
  struct Config {
    using Product = SequenceModelFeatures;
    static constexpr std::string_view kName = "paxml.seqio_input.SequenceModelFeatures";
    static constexpr std::string_view kDoc = "Encoder-decoder batches.";
    bool pack = false;
    int64_t bos_id = 0;
    static void fields(auto& self, auto&& visit) {
      visit("pack", self.pack, "Put several examples into one row.");
      visit("bos_id", self.bos_id, "The input before a segment's first label.");
    }
  };

  explicit SequenceModelFeatures(const Config& config) : config_(config) {}
  FeatureLengths row_lengths(const FeatureLengths& task_lengths) const override;
  IntRow prepare(const Example& example) const override;
  HostTree convert(const IntRow& row) const override;
  bool packs() const override { return config_.pack; }

 private:
  Config config_;
};

/// The integer features as they are, padded with zeros; `provenance` fields left out.
class PassThroughFeatures final : public FeatureConverter {
 public:
  struct Config {
    using Product = PassThroughFeatures;
    static constexpr std::string_view kName = "paxml.seqio_input.RemoveProvenance";
    static constexpr std::string_view kDoc = "Features as the task gives them.";
    static void fields(auto&, auto&&) {}
  };
  explicit PassThroughFeatures(const Config&) {}
  FeatureLengths row_lengths(const FeatureLengths& task_lengths) const override;
  IntRow prepare(const Example& example) const override;
  HostTree convert(const IntRow& row) const override;
};

/// `targets` moved right by one, each segment beginning with `bos`. `segments` may be empty: one segment.
std::vector<int32_t> autoregressive_inputs(std::span<const int32_t> targets, std::span<const int32_t> segments,
                                           int32_t bos);

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::LanguageModelFeatures::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::SequenceModelFeatures::Config>();
extern template const pax::config::ConfigType& pax::config::type_of<pax::data::PassThroughFeatures::Config>();
