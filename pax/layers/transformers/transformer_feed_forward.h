#pragma once

#include "pax/layers/linears.h"
#include "pax/layers/normalizations.h"
#include "pax/layers/stochastics.h"
#include "pax/layers/transformers/norm_policy.h"

namespace pax {

// B: batch, T: positions, D: model dimension, F: hidden dimension.

struct FeedForwardInputs {
  Tensor x;               ///< [B, T, D], or [B, D] in a step of decoding
  Tensor paddings;        ///< [B, T], 1 at padding; may be null
  Tensor segment_ids_bt;  ///< may be null
};

/// The feed-forward half of a Transformer layer, residual connection included.
class TransformerFfn : public Layer {
 public:
  using Interface = TransformerFfn;
  using Layer::Layer;
  virtual Tensor fprop(const FeedForwardInputs& inputs) const = 0;
  Tensor fprop(Tensor x) const final { return fprop(FeedForwardInputs{.x = x}); }
};

/// Normalisation, two layers with an activation between them (gated or not), residual connection (praxis
/// transformers.TransformerFeedForward).
class TransformerFeedForward final : public TransformerFfn {
 public:
  struct Config : LayerConfig {
    using Product = TransformerFeedForward;
    static constexpr std::string_view kName = "praxis.layers.TransformerFeedForward";
    static constexpr std::string_view kAliases[] = {"praxis.layers.transformers.TransformerFeedForward"};
    static constexpr std::string_view kDoc = "Normalisation, feed-forward layers, residual connection.";
    int64_t input_dims = 0;
    int64_t output_dims = 0;
    int64_t hidden_dims = 0;
    bool has_bias = true;
    bool apply_padding_first = false;
    Tpl<Layer> activation_tpl = ReLU::Config{};
    bool use_gated_activation = false;
    Tpl<Layer> fflayer_tpl = FeedForward::Config{};
    Tpl<Layer> ln_tpl = LayerNorm::Config{};
    double residual_dropout_prob = 0.0;
    Tpl<Layer> relu_dropout_tpl = Dropout::Config{};
    double relu_dropout_prob = 0.0;
    Tpl<Layer> residual_dropout_tpl = Dropout::Config{};
    bool add_skip_connection = true;
    double residual_weight = 1.0;
    double residual_droppath_prob = 0.0;
    NormPolicy norm_policy = NormPolicy::kPre;
    bool internal_gshard_variance_scaling_fan_in_init = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "D.");
      visit("output_dims", self.output_dims, "Size of the output; 0: input_dims.");
      visit("hidden_dims", self.hidden_dims, "F.");
      visit("has_bias", self.has_bias);
      visit("apply_padding_first", self.apply_padding_first, "Zero padded inputs instead of hidden and output.");
      visit("activation_tpl", self.activation_tpl);
      visit("use_gated_activation", self.use_gated_activation, "activation(gate(x)) * linear(x).");
      visit("fflayer_tpl", self.fflayer_tpl);
      visit("ln_tpl", self.ln_tpl);
      visit("residual_dropout_prob", self.residual_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("relu_dropout_tpl", self.relu_dropout_tpl);
      visit("relu_dropout_prob", self.relu_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("residual_dropout_tpl", self.residual_dropout_tpl);
      visit("add_skip_connection", self.add_skip_connection);
      visit("residual_weight", self.residual_weight, "x + residual_weight * f(x).");
      visit("residual_droppath_prob", self.residual_droppath_prob, {.doc = "", .min = 0, .max = 1});
      visit("norm_policy", self.norm_policy);
      visit("internal_gshard_variance_scaling_fan_in_init", self.internal_gshard_variance_scaling_fan_in_init);
    }
  };
  TransformerFeedForward(const Config& config, const Scope& scope);
  using TransformerFfn::fprop;
  Tensor fprop(const FeedForwardInputs& inputs) const override;

 private:
  Tpl<Layer> feed_forward(const Tpl<Layer>& activation, int64_t input_dims, int64_t output_dims,
                          std::string_view split) const;
  Tensor hidden(Tensor x) const;
  Tensor shard_rows(Tensor x, std::string_view name) const;

  const Config config_;
  Child<Layer> layer_norm_, pre_layer_norm_, post_layer_norm_;
  Child<Layer> ffn_layer1_, ffn_layer1_gate_, ffn_layer2_, relu_dropout_, residual_dropout_;
  Child<StochasticResidual> residual_droppath_;
};
extern template const config::ConfigType& config::type_of<TransformerFeedForward::Config>();

}  // namespace pax
