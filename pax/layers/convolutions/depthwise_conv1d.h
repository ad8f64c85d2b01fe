#pragma once

#include <array>

#include "pax/layers/layer.h"

namespace pax {

/// Convolution over time with a filter of its own for each channel: [B, T, D] -> [B, T, D m].
class BaseDepthwiseConv1D : public Layer {
 public:
  using Interface = BaseDepthwiseConv1D;
  struct Config : LayerConfig {
    std::array<int64_t, 3> filter_shape{0, 0, 0};
    bool bias = false;
    WeightInit bias_init = WeightInit::constant(0.0);
    bool is_causal = false;
    bool use_2d_conv_weight_shape = false;
    int64_t rhs_dilation_rate = 1;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("filter_shape", self.filter_shape, "Width in steps, input channels D, outputs of each m.");
      visit("bias", self.bias, "Whether there is a bias.");
      visit("bias_init", self.bias_init, "How the bias begins.");
      visit("is_causal", self.is_causal, "No output sees later inputs.");
      visit("use_2d_conv_weight_shape", self.use_2d_conv_weight_shape, "The filter has a last dimension of 1.");
      visit("rhs_dilation_rate", self.rhs_dilation_rate, {.doc = "Distance of the filter's elements.", .min = 1});
    }
  };
  using Layer::Layer;

  /// `paddings` [B, T] or null.
  virtual Tensor fprop(Tensor x, Tensor paddings) const = 0;
  Tensor fprop(Tensor x) const final { return fprop(x, {}); }
};

/// The plain one (praxis convolutions.DepthwiseConv1D).
class DepthwiseConv1D final : public BaseDepthwiseConv1D {
 public:
  struct Config : BaseDepthwiseConv1D::Config {
    using Product = DepthwiseConv1D;
    static constexpr std::string_view kName = "praxis.layers.DepthwiseConv1D";
    static constexpr std::string_view kAliases[] = {"praxis.layers.convolutions.DepthwiseConv1D"};
    static constexpr std::string_view kDoc = "Convolution over time, each channel by itself.";
  };
  DepthwiseConv1D(const Config& config, const Scope& scope);
  using BaseDepthwiseConv1D::fprop;
  Tensor fprop(Tensor x, Tensor paddings) const override;

 private:
  const Config config_;
  Tensor w_, b_;  ///< [width, 1, D m] (, 1); [D m] or null
};
extern template const config::ConfigType& config::type_of<DepthwiseConv1D::Config>();

}  // namespace pax
