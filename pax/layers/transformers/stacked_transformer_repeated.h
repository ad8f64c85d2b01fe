#pragma once

#include "pax/layers/repeats.h"
#include "pax/layers/transformers/stacked_transformer.h"

namespace pax {

/// A stack of layers repeated `x_times` with weights of their own, as one loop of the program (praxis
/// transformers.StackedTransformerRepeated). Weights have a leading dimension; their path has `repeat/sub`.
class StackedTransformerRepeated : public TransformerStack {
 public:
  struct Config : LayerConfig {
    using Product = StackedTransformerRepeated;
    static constexpr std::string_view kName = "praxis.layers.StackedTransformerRepeated";
    static constexpr std::string_view kAliases[] = {"praxis.layers.transformers.StackedTransformerRepeated"};
    static constexpr std::string_view kDoc = "A stack of layers, repeated as one loop of the program.";
    Tpl<TransformerStack> block = StackedTransformer::Config{};
    int64_t x_times = 0;
    AutodiffCheckpointType checkpoint_policy = AutodiffCheckpointType::kSaveNothing;
    bool unroll_in_decode = true;
    std::string repeat_layer_name = "repeat";
    std::string sublayer_name = "sub";
    SplitDims repeat_optimizer_dims_mapping;
    std::optional<std::vector<int64_t>> nd_prefix_shape;
    bool return_intermediate_outputs = false;
    bool collect_intermediate_outputs = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("block", self.block, "What is repeated.");
      visit("x_times", self.x_times, {.doc = "Number of repetitions.", .min = 0});
      visit("checkpoint_policy", self.checkpoint_policy, "What the backward pass keeps of each repetition.");
      visit("unroll_in_decode", self.unroll_in_decode, "Write the repetitions of a decoding step out.");
      visit("repeat_layer_name", self.repeat_layer_name);
      visit("sublayer_name", self.sublayer_name);
      visit("repeat_optimizer_dims_mapping", self.repeat_optimizer_dims_mapping);
      visit("nd_prefix_shape", self.nd_prefix_shape, "x_times as a product: several leading dimensions.");
      visit("return_intermediate_outputs", self.return_intermediate_outputs, "All outputs, [x_times, B, T, D].");
      visit("collect_intermediate_outputs", self.collect_intermediate_outputs);
    }
  };
  StackedTransformerRepeated(const Config& config, const Scope& scope);
  using TransformerStack::fprop;
  Tensor fprop(const StackInputs& inputs) const override;
  Tensor extend_step(const StackStep& step) const override;

 private:
  std::string block_path(std::string_view above) const;

  const Config config_;
  const RepeatLoop loop_;
  Child<TransformerStack> block_;
};
extern template const config::ConfigType& config::type_of<StackedTransformerRepeated::Config>();

/// The same with the names of a pipeline's weights, so that what one has trained the other can decode (praxis
/// transformers.PipelineCompatibleStackedTransformerRepeated).
class PipelineCompatibleStackedTransformerRepeated final : public StackedTransformerRepeated {
 public:
  struct Config : StackedTransformerRepeated::Config {
    using Product = PipelineCompatibleStackedTransformerRepeated;
    static constexpr std::string_view kName = "praxis.layers.PipelineCompatibleStackedTransformerRepeated";
    static constexpr std::string_view kAliases[] = {
        "praxis.layers.transformers.PipelineCompatibleStackedTransformerRepeated"};
    static constexpr std::string_view kDoc = "A repeated stack with the weights of a pipeline.";
    Config() {
      repeat_layer_name = "pipeline";
      sublayer_name = "body";
    }
  };
  using StackedTransformerRepeated::StackedTransformerRepeated;
};
extern template const config::ConfigType& config::type_of<PipelineCompatibleStackedTransformerRepeated::Config>();

}  // namespace pax
