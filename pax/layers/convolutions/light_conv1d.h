#pragma once

#include "pax/layers/batch_norm.h"
#include "pax/layers/convolutions/depthwise_conv1d.h"
#include "pax/layers/linears.h"
#include "pax/layers/stochastics.h"

namespace pax {

/// The convolution block of a conformer (praxis convolutions.LightConv1D; Gulati et al. 2020):
/// x + dropout(linear(activation(norm(depthwise(linear(ln(x)) * sigmoid(linear(ln(x)))))))), [B, T, D] -> [B, T, D].
class LightConv1D final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = LightConv1D;
    static constexpr std::string_view kName = "praxis.layers.LightConv1D";
    static constexpr std::string_view kAliases[] = {"praxis.layers.convolutions.LightConv1D"};
    static constexpr std::string_view kDoc = "The convolution block of a conformer.";
    std::optional<int64_t> input_dims;
    std::optional<int64_t> kernel_size;
    Tpl<Layer> conv_activation_tpl = Swish::Config{};
    double dropout_prob = 0.0;
    Tpl<BaseNormalization> ln_tpl = LayerNorm::Config{};
    Tpl<Layer> linear_start_tpl = FeedForward::Config{};
    Tpl<BaseDepthwiseConv1D> depthwise_conv_tpl = DepthwiseConv1D::Config{};
    Tpl<BaseNormalization> conv_norm_layer_tpl = BatchNorm::Config{};
    Tpl<Layer> linear_end_tpl = FeedForward::Config{};
    Tpl<Layer> dropout_tpl = Dropout::Config{};
    bool is_causal = false;
    bool use_2d_conv_norm = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Size of the last axis.");
      visit("kernel_size", self.kernel_size, "Width of the convolution in steps.");
      visit("conv_activation_tpl", self.conv_activation_tpl, "What follows the convolution's normalisation.");
      visit("dropout_prob", self.dropout_prob, {.doc = "Share of results set to zero.", .min = 0.0, .max = 1.0});
      visit("ln_tpl", self.ln_tpl, "Normalises the input.");
      visit("linear_start_tpl", self.linear_start_tpl, "The two projections before the convolution.");
      visit("depthwise_conv_tpl", self.depthwise_conv_tpl, "The convolution.");
      visit("conv_norm_layer_tpl", self.conv_norm_layer_tpl, "Normalises its result.");
      visit("linear_end_tpl", self.linear_end_tpl, "The projection at the end.");
      visit("dropout_tpl", self.dropout_tpl);
      visit("is_causal", self.is_causal, "No output sees later inputs.");
      visit("use_2d_conv_norm", self.use_2d_conv_norm, "Gives the normalisation an input of rank 4.");
    }
  };
  LightConv1D(const Config& config, const Scope& scope);
  using Layer::fprop;
  /// `x` [B, T, D], `paddings` [B, T].
  Tensor fprop(Tensor x, Tensor paddings) const;

 private:
  const bool use_2d_conv_norm_;
  Child<BaseNormalization> ln_, conv_norm_;
  Child<Layer> linear_start_act_, linear_start_gated_, linear_end_, conv_activation_, dropout_;
  Child<BaseDepthwiseConv1D> depthwise_conv1d_;
};
extern template const config::ConfigType& config::type_of<LightConv1D::Config>();

}  // namespace pax
