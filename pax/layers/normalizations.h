#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// Layer normalisation over the last axis, statistics in float32 (praxis normalizations.LayerNorm; Ba et al. 2016).
/// [..., dim] -> [..., dim].
class LayerNorm final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = LayerNorm;
    static constexpr std::string_view kName = "praxis.layers.LayerNorm";
    int64_t dim = 0;
    bool direct_scale = false;  ///< scale multiplies as it is (starts at 1), else as 1 + scale (starts at 0)
    double epsilon = 1e-6;
    bool use_scale = true;
    bool use_bias = true;
    bool reductions_in_fp32 = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("dim", self.dim, "Size of the last axis.");
      visit("direct_scale", self.direct_scale);
      visit("epsilon", self.epsilon);
      visit("use_scale", self.use_scale);
      visit("use_bias", self.use_bias);
      visit("reductions_in_fp32", self.reductions_in_fp32);
    }
  };
  LayerNorm(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const Config config_;
  Tensor scale_, bias_;  ///< [dim]; null when unused
};

}  // namespace pax
