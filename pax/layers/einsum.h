#pragma once

#include "pax/layers/base_ops.h"

namespace pax {

/// A product with a weight in einsum notation, and a bias over the dimensions that the weight adds
/// (praxis einsum.Einsum).
class Einsum final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Einsum;
    static constexpr std::string_view kName = "praxis.layers.Einsum";
    static constexpr std::string_view kAliases[] = {"praxis.layers.einsum.Einsum"};
    static constexpr std::string_view kDoc = "A product with a weight in einsum notation.";
    std::string eqn;
    std::vector<int64_t> w_shape;
    bool use_bias = false;
    Tpl<EinsumOp> einsum_op_tpl = EinsumOp::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("eqn", self.eqn, "\"input,w->output\", such as \"...d,df->...f\".");
      visit("w_shape", self.w_shape, "Shape of the weight.");
      visit("use_bias", self.use_bias, "Whether a bias is added; what w adds must then stand last.");
      visit("einsum_op_tpl", self.einsum_op_tpl, "What multiplies.");
    }
  };
  Einsum(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const std::string eqn_;
  Tensor w_, b_;  ///< b_ is null without use_bias
  Child<EinsumOp> einsum_;
};
extern template const config::ConfigType& config::type_of<Einsum::Config>();

}  // namespace pax
