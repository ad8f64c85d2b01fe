#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// Scales each dimension of a query by softplus(w) * 1.442695041 / sqrt(dim), which is 1 / sqrt(dim) at the start
/// (praxis attentions.PerDimScale). [..., dim] -> [..., dim].
class PerDimScale final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = PerDimScale;
    static constexpr std::string_view kName = "praxis.layers.PerDimScale";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.PerDimScale"};
    static constexpr std::string_view kDoc = "A learnt scale for each dimension of the queries.";
    int64_t dim = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("dim", self.dim, "Size of the last axis.");
    }
  };
  PerDimScale(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  Tensor w_;  ///< [dim]
};
extern template const config::ConfigType& config::type_of<PerDimScale::Config>();

}  // namespace pax
