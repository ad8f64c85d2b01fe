#pragma once

#include <memory>
#include <vector>

#include "pax/data/input.h"
#include "pax/data/row_stream.h"
#include "pax/data/worker_pool.h"

namespace pax::data {

/// Batches of a SeqIO task or mixture. The global batch has `num_streams` streams of rows (unset: one a row); stream s
/// reads every num_streams-th example of one global order and packs by itself, so batches do not depend on hosts or
/// threads, and a position is a few numbers a stream. `num_streams: 1` packs as one SeqIO process does.
class SeqIOInput final : public Input {
 public:
  struct Config : InputConfig {
    using Product = SeqIOInput;
    static constexpr std::string_view kName = "paxml.seqio_input.SeqIOInput";
    static constexpr std::string_view kDoc = "Batches of a SeqIO task or mixture.";
    Tpl<TaskOrMixture> mixture_or_task{};
    Required<std::string> split_name{};
    FeatureLengths task_feature_lengths{};
    Tpl<FeatureConverter> feature_converter = LanguageModelFeatures::Config{};
    std::optional<bool> shuffle{}, repeat{};
    bool trim_output_features = true;
    bool eval_auto_pad = true;
    bool drop_remainder = true;
    bool annotate_padding_fields = true;
    std::optional<int64_t> num_batches_to_skip{};
    Packing packing = Packing::kNextFit;
    int64_t packing_bins = 16;
    std::optional<int64_t> num_streams{};
    int64_t num_workers = 2;
    static void fields(auto& self, auto&& visit) {
      InputConfig::fields(self, visit);
      visit("mixture_or_task", self.mixture_or_task, "Where the examples come from.");
      visit("split_name", self.split_name, "Split of the task: train, validation …");
      visit("task_feature_lengths", self.task_feature_lengths, "Length of each feature; longer ones are cut.");
      visit("feature_converter", self.feature_converter, "From task features to the model's.");
      visit("shuffle", self.shuffle, "Unset: when training.");
      visit("repeat", self.repeat, "Unset: when training.");
      visit("trim_output_features", self.trim_output_features, "Cut features to their lengths before converting.");
      visit("eval_auto_pad", self.eval_auto_pad, "Fill the last batches of an evaluation with rows of no weight.");
      visit("drop_remainder", self.drop_remainder, "Without padding: leave out a last batch that is not full.");
      visit("annotate_padding_fields", self.annotate_padding_fields,
            "Set weights 0 and paddings 1 in filled rows; false leaves it to eval_sample_weights, as Pax does.");
      visit("num_batches_to_skip", self.num_batches_to_skip,
            {.doc = "Batches left out at the start of training.", .min = 0});
      visit("packing", self.packing, "How a converter that packs does it: next_fit as SeqIO, or first_fit.");
      visit("packing_bins", self.packing_bins, {.doc = "Rows that first_fit holds open in a stream.", .min = 1});
      visit("num_streams", self.num_streams, {.doc = "Divides the global batch. Unset: one a row.", .min = 1});
      visit("num_workers", self.num_workers, {.doc = "Threads beside the caller's.", .min = 0, .max = 256});
    }
  };

  explicit SeqIOInput(const Config& config);
  ~SeqIOInput() override;

  BatchSpec spec() const override { return spec_; }
  std::optional<int64_t> num_batches() const override { return num_batches_; }
  const Tokenizer* tokenizer() const override;
  const Tokenizer* vocabulary(const std::string& feature) const { return shared_->examples->vocabulary(feature); }

 protected:
  std::optional<HostTree> produce() override;
  void rewind() override;
  std::string save_position() const override;
  void restore_position(std::span<const std::string> states) override;

 private:
  std::optional<HostTree> make_batch();
  HostTree assemble(const std::vector<std::optional<HostTree>>& rows) const;
  HostTree filler_row() const;
  void count_batches();
  int64_t rows_per_stream() const { return share().global_batch_size() / shared_->num_streams; }
  int64_t first_stream() const { return share().host * share().batch_size / rows_per_stream(); }

  std::shared_ptr<StreamShared> shared_;
  DatasetIdentity identity_;
  bool pads_ = false;
  bool annotate_ = true;
  bool drop_remainder_ = true;
  int64_t skip_ = 0;
  std::vector<RowStream> streams_;
  BatchSpec spec_;
  HostTree filler_;
  std::optional<int64_t> num_batches_;
  int64_t batches_taken_ = 0;
  std::unique_ptr<WorkerPool> workers_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::SeqIOInput::Config>();
