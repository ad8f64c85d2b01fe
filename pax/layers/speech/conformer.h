#pragma once

#include "pax/layers/attention/context_attention.h"
#include "pax/layers/convolutions/light_conv1d.h"
#include "pax/layers/transformers/transformer_feed_forward.h"

namespace pax {

// B: batch, T: frames, D: model dimension.

/// Self-attention with normalisation and residual connection (praxis conformers.SelfAttentionWithNormAndResidual):
/// residual_weight * attention(norm(x)) + input_weight * x.
class SelfAttentionWithNormAndResidual final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = SelfAttentionWithNormAndResidual;
    static constexpr std::string_view kName = "praxis.layers.SelfAttentionWithNormAndResidual";
    static constexpr std::string_view kAliases[] = {"praxis.layers.conformers.SelfAttentionWithNormAndResidual"};
    static constexpr std::string_view kDoc = "Self-attention with normalisation and residual connection.";
    double residual_weight = 1.0;
    double input_weight = 1.0;
    Tpl<Attention> self_atten_tpl = DotProductAttentionWithContext::Config{};
    Tpl<Layer> norm_tpl = LayerNorm::Config{};
    std::optional<bool> pre_layer_norm = true;
    double residual_dropout_prob = 0.0;
    Tpl<Layer> residual_dropout_tpl = Dropout::Config{};
    std::optional<NormPolicy> norm_policy;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("residual_weight", self.residual_weight, "Of the attention's result.");
      visit("input_weight", self.input_weight, "Of the input.");
      visit("self_atten_tpl", self.self_atten_tpl, "The attention.");
      visit("norm_tpl", self.norm_tpl, "The normalisation; its dim must be set.");
      visit("pre_layer_norm", self.pre_layer_norm,
            "true: norm_policy pre, false: post_skip, null: as norm_policy says.");
      visit("residual_dropout_prob", self.residual_dropout_prob,
            {.doc = "Of the attention's result.", .min = 0.0, .max = 1.0});
      visit("residual_dropout_tpl", self.residual_dropout_tpl);
      visit("norm_policy", self.norm_policy, "Where it normalises; only with pre_layer_norm null.");
    }
  };
  SelfAttentionWithNormAndResidual(const Config& config, const Scope& scope);
  using Layer::fprop;
  /// `x` [B, T, D], `paddings` [B, T]; `mask` [1|B, 1, 1|T, T] may be null.
  Tensor fprop(Tensor x, Tensor paddings, Tensor mask) const;

 private:
  const double residual_weight_, input_weight_;
  const NormPolicy policy_;
  Child<Layer> norm_, pre_norm_, post_norm_, residual_dropout_;
  Child<Attention> self_atten_;
};
extern template const config::ConfigType& config::type_of<SelfAttentionWithNormAndResidual::Config>();

/// Which blocks a conformer has, and their order.
enum class ConformerOrder : uint8_t { kMhsa, kConv, kMhsaBeforeConv, kConvBeforeMhsa };
/// "mhsa", "conv", "mhsa_before_conv", "conv_before_mhsa".
std::span<const std::pair<ConformerOrder, std::string_view>> enum_names(ConformerOrder);

/// Feed-forward, attention, convolution, feed-forward, normalisation (praxis conformers.Conformer; Gulati et al. 2020):
/// [B, T, input_dims] -> [B, T, model_dims].
class Conformer final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Conformer;
    static constexpr std::string_view kName = "praxis.layers.Conformer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.conformers.Conformer"};
    static constexpr std::string_view kDoc = "A conformer layer.";
    std::optional<int64_t> input_dims;
    int64_t model_dims = 512;
    int64_t kernel_size = 32;
    Tpl<Layer> ff_activation_tpl = Swish::Config{};
    double ff_residual_weight = 0.5;
    int64_t ffn_dim_multiplier = 4;
    int64_t atten_num_heads = 8;
    ConformerOrder layer_order = ConformerOrder::kMhsaBeforeConv;
    std::optional<double> dropout_prob;
    std::optional<double> conv_residual_dropout;
    std::optional<double> atten_residual_dropout;
    std::optional<double> ffn_residual_dropout;
    std::optional<double> atten_dropout;
    std::optional<double> ffn_relu_dropout;
    Tpl<TransformerFfn> fflayer_start_tpl = TransformerFeedForward::Config{};
    Tpl<SelfAttentionWithNormAndResidual> trans_atten_tpl = SelfAttentionWithNormAndResidual::Config{};
    Tpl<LightConv1D> lconv_tpl = LightConv1D::Config{};
    Tpl<TransformerFfn> fflayer_end_tpl = TransformerFeedForward::Config{};
    bool fflayer_weight_sharing = false;
    Tpl<Layer> final_ln_tpl = LayerNorm::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Size of the input's last axis.");
      visit("model_dims", self.model_dims, {.doc = "D.", .min = 1});
      visit("kernel_size", self.kernel_size, {.doc = "Of the convolution, in frames.", .min = 1});
      visit("ff_activation_tpl", self.ff_activation_tpl, "Of the feed-forward layers.");
      visit("ff_residual_weight", self.ff_residual_weight, "What a feed-forward layer's result is multiplied by.");
      visit("ffn_dim_multiplier", self.ffn_dim_multiplier, "Hidden dimension of a feed-forward layer over D.");
      visit("atten_num_heads", self.atten_num_heads, {.doc = "", .min = 1});
      visit("layer_order", self.layer_order, "Which blocks, in which order.");
      visit("dropout_prob", self.dropout_prob, {.doc = "Of all parts, when set.", .min = 0.0, .max = 1.0});
      visit("conv_residual_dropout", self.conv_residual_dropout, {.doc = "", .min = 0.0, .max = 1.0});
      visit("atten_residual_dropout", self.atten_residual_dropout, {.doc = "", .min = 0.0, .max = 1.0});
      visit("ffn_residual_dropout", self.ffn_residual_dropout, {.doc = "", .min = 0.0, .max = 1.0});
      visit("atten_dropout", self.atten_dropout, {.doc = "", .min = 0.0, .max = 1.0});
      visit("ffn_relu_dropout", self.ffn_relu_dropout, {.doc = "", .min = 0.0, .max = 1.0});
      visit("fflayer_start_tpl", self.fflayer_start_tpl, "null: none.");
      visit("trans_atten_tpl", self.trans_atten_tpl);
      visit("lconv_tpl", self.lconv_tpl);
      visit("fflayer_end_tpl", self.fflayer_end_tpl, "null: none.");
      visit("fflayer_weight_sharing", self.fflayer_weight_sharing, "The first feed-forward layer is also the last.");
      visit("final_ln_tpl", self.final_ln_tpl, "null: none.");
    }
  };
  Conformer(const Config& config, const Scope& scope);
  using Layer::fprop;
  /// `x` [B, T, input_dims], `paddings` [B, T]; `mask` [1|B, 1, 1|T, T] may be null.
  Tensor fprop(Tensor x, Tensor paddings, Tensor mask) const;

 private:
  void add_feed_forward(const Config& config);
  void add_attention(const Config& config);

  const ConformerOrder order_;
  const bool share_fflayer_;
  Child<TransformerFfn> fflayer_start_, fflayer_end_;
  Child<SelfAttentionWithNormAndResidual> trans_atten_;
  Child<LightConv1D> lconv_;
  Child<Layer> final_ln_;
};
extern template const config::ConfigType& config::type_of<Conformer::Config>();

}  // namespace pax
