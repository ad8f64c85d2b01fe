#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// y = x w over the last axis: [..., input_dims] -> [..., output_dims] (praxis linears.Linear).
class Linear final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Linear;
    static constexpr std::string_view kName = "praxis.layers.Linear";
    static constexpr std::string_view kDoc = "Matrix product over the last axis.";
    int64_t input_dims = 0;
    int64_t output_dims = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Size of the input's last axis.");
      visit("output_dims", self.output_dims, "Size of the output's last axis.");
    }
  };
  Linear(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  Tensor w_;  ///< [input_dims, output_dims]
};

}  // namespace pax
