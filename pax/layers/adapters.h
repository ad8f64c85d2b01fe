#pragma once

#include "pax/layers/activations.h"
#include "pax/layers/normalizations.h"
#include "pax/layers/transformers/transformer_feed_forward.h"

namespace pax {

// I: model dimension, N: bottleneck, K: tasks.

struct AdapterInputs {
  Tensor x;         ///< [B, ..., I]
  Tensor paddings;  ///< may be null; for norms that look at them
  Tensor tasks;     ///< integers of the first dimensions of x, all or all but one; null with one task
};

/// A narrow layer for each task beside a large one (praxis adapters.MultitaskResidualAdapter; Houlsby et al. 2019):
/// x + up(activation(down(norm(x)))).
class MultitaskResidualAdapter final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = MultitaskResidualAdapter;
    static constexpr std::string_view kName = "praxis.layers.MultitaskResidualAdapter";
    static constexpr std::string_view kAliases[] = {"praxis.layers.adapters.MultitaskResidualAdapter"};
    static constexpr std::string_view kDoc = "A narrow layer for each task, with a residual connection.";
    int64_t input_dims = 0;
    int64_t bottleneck_dims = 0;
    int64_t num_tasks = 1;
    Tpl<BaseNormalization> norm_tpl = LayerNorm::Config{};
    Tpl<Layer> activation_tpl = ReLU::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Size of the last axis.");
      visit("bottleneck_dims", self.bottleneck_dims, "Width of the layer.");
      visit("num_tasks", self.num_tasks, {.doc = "Number of layers.", .min = 1});
      visit("norm_tpl", self.norm_tpl, "Normalises the input; null: not.");
      visit("activation_tpl", self.activation_tpl, "Between the two projections.");
    }
  };
  MultitaskResidualAdapter(const Config& config, const Scope& scope);

  Tensor fprop(const AdapterInputs& inputs) const { return inputs_plus(inputs); }
  Tensor fprop(Tensor x) const override { return inputs_plus({.x = x, .paddings = {}, .tasks = {}}); }
  /// Without the residual connection.
  Tensor residual(const AdapterInputs& inputs) const;

 private:
  Tensor inputs_plus(const AdapterInputs& inputs) const;

  const int64_t num_tasks_;
  Child<BaseNormalization> norm_;
  Child<Layer> activation_;
  Tensor down_w_, down_b_;  ///< [K, I, N], [K, N]
  Tensor up_w_, up_b_;      ///< [K, N, I], [K, I]
};
extern template const config::ConfigType& config::type_of<MultitaskResidualAdapter::Config>();

/// Where an adapter stands to its feed-forward layer.
enum class AdapterMode : uint8_t { kSequential, kParallel };
std::span<const std::pair<AdapterMode, std::string_view>> enum_names(AdapterMode);

/// TransformerFeedForward with an adapter before its residual connection (praxis
/// adapters.AdaptedTransformerFeedForward).
class AdaptedTransformerFeedForward final : public TransformerFfn {
 public:
  struct Config : TransformerFeedForward::Config {
    using Product = AdaptedTransformerFeedForward;
    static constexpr std::string_view kName = "praxis.layers.AdaptedTransformerFeedForward";
    static constexpr std::string_view kAliases[] = {"praxis.layers.adapters.AdaptedTransformerFeedForward"};
    static constexpr std::string_view kDoc = "Feed-forward layer with an adapter.";
    Tpl<MultitaskResidualAdapter> adapter_tpl;
    AdapterMode mode = AdapterMode::kSequential;
    static void fields(auto& self, auto&& visit) {
      TransformerFeedForward::Config::fields(self, visit);
      visit("adapter_tpl", self.adapter_tpl, "The adapter.");
      visit("mode", self.mode, "It takes the layer's output, or its input.");
    }
  };
  AdaptedTransformerFeedForward(const Config& config, const Scope& scope);
  using TransformerFfn::fprop;
  Tensor fprop(const FeedForwardInputs& inputs) const override { return fprop(inputs, {}); }
  Tensor fprop(const FeedForwardInputs& inputs, Tensor tasks) const;

 private:
  const TransformerFeedForward ffn_;
  const bool add_skip_connection_;
  const double residual_weight_;
  const AdapterMode mode_;
  Child<MultitaskResidualAdapter> adapters_;
};
extern template const config::ConfigType& config::type_of<AdaptedTransformerFeedForward::Config>();

}  // namespace pax
