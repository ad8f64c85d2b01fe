#pragma once

#include <variant>

#include "pax/layers/layer.h"

namespace pax {

/// Convolution over past positions, one filter a channel (praxis attentions.CausalDepthwiseConv1D; Primer).
class CausalDepthwiseConv1D final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = CausalDepthwiseConv1D;
    static constexpr std::string_view kName = "praxis.layers.CausalDepthwiseConv1D";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.CausalDepthwiseConv1D"};
    static constexpr std::string_view kDoc = "Convolution over past positions, one filter a channel.";
    int64_t kernel_size = 3;
    std::variant<int64_t, std::vector<int64_t>> hidden_dims = int64_t{0};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("kernel_size", self.kernel_size, {.doc = "Positions that an output sees.", .min = 1});
      visit("hidden_dims", self.hidden_dims, "Sizes of the last axes.");
    }
  };
  struct Place {
    int64_t axis = 1;    ///< that of the positions
    Tensor segment_pos;  ///< [B, T]; null: one segment
  };
  CausalDepthwiseConv1D(const Config& config, const Scope& scope);

  /// Same shape as `x`: [B, T, ...channels], positions along `place.axis`.
  Tensor convolve(Tensor x, const Place& place) const;
  Tensor fprop(Tensor x) const override { return convolve(x, {}); }

  /// The output at position `step` (integer scalar) of `x` [B, T, ...]; `segment_pos` [B], null: the step.
  Tensor extend_step(Tensor x, Tensor step, Tensor segment_pos) const;

 private:
  std::vector<Tensor> w_;  ///< dconv_0 (the present position), dconv_1 (the one before), …: [...channels]
};
extern template const config::ConfigType& config::type_of<CausalDepthwiseConv1D::Config>();

}  // namespace pax
