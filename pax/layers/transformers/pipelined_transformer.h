#pragma once

#include "pax/layers/repeats.h"
#include "pax/layers/transformers/stacked_transformer.h"

namespace pax {

/// A stack in stages, whose weights are split over the stages' devices (praxis transformers.PipelinedTransformer).
/// Weights lead with [circular_repeat,] num_pipeline_stages; their path has `pipeline/body`. The stages work at once on
/// different microbatches (layers/pipeline.h); the result is that of one stage after the other. `stream_io`,
/// `pipeline_broadcast_inputs` and `enable_async_circular_transfer` change no result and are not read.
class PipelinedTransformer final : public TransformerStack {
 public:
  struct Config : LayerConfig {
    using Product = PipelinedTransformer;
    static constexpr std::string_view kName = "praxis.layers.PipelinedTransformer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.transformers.PipelinedTransformer"};
    static constexpr std::string_view kDoc = "A stack in stages.";
    Tpl<TransformerStack> pipeline_stage = StackedTransformer::Config{};
    int64_t circular_repeat = 1;
    std::optional<int64_t> num_pipeline_stages;
    std::optional<int64_t> num_pipeline_microbatches;
    std::optional<int64_t> pipeline_microbatch_size;
    bool stream_io = false;
    bool pipeline_broadcast_inputs = false;
    AutodiffCheckpointType checkpoint_policy = AutodiffCheckpointType::kSaveIterationInput;
    bool enable_async_circular_transfer = true;
    bool bf16_accum_in_fp32 = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("pipeline_stage", self.pipeline_stage, "The layers of a stage.");
      visit("circular_repeat", self.circular_repeat, {.doc = "Turns through all stages.", .min = 1});
      visit("num_pipeline_stages", self.num_pipeline_stages, {.doc = "", .min = 1});
      visit("num_pipeline_microbatches", self.num_pipeline_microbatches, {.doc = "", .min = 1});
      visit("pipeline_microbatch_size", self.pipeline_microbatch_size, {.doc = "", .min = 1});
      visit("stream_io", self.stream_io);
      visit("pipeline_broadcast_inputs", self.pipeline_broadcast_inputs);
      visit("checkpoint_policy", self.checkpoint_policy, "What the backward pass keeps of each stage.");
      visit("enable_async_circular_transfer", self.enable_async_circular_transfer);
      visit("bf16_accum_in_fp32", self.bf16_accum_in_fp32);
    }
  };
  PipelinedTransformer(const Config& config, const Scope& scope);
  using TransformerStack::fprop;
  Tensor fprop(const StackInputs& inputs) const override;

 private:
  int64_t microbatches(int64_t batch) const;
  Tensor run_stage(const StackInputs& inputs, Tensor microbatch) const;

  const Config config_;
  const RepeatLoop loop_;
  Child<TransformerStack> body_;
};
extern template const config::ConfigType& config::type_of<PipelinedTransformer::Config>();

}  // namespace pax
