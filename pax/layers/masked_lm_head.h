#pragma once

#include "pax/layers/linears.h"
#include "pax/layers/normalizations.h"

namespace pax {

/// What a masked language model does before its softmax: dense layer, activation, normalisation (Devlin et al. 2018).
/// Stands where other models have their last normalisation.
class MaskedLmHead final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = MaskedLmHead;
    static constexpr std::string_view kName = "pax.layers.MaskedLmHead";
    static constexpr std::string_view kAliases[] = {"pax.layers.heads.MaskedLmHead"};
    static constexpr std::string_view kDoc = "Dense layer, activation, normalisation.";
    int64_t dim = 0;
    Tpl<Layer> activation_tpl = GELU::Config{};
    Tpl<Layer> ln_tpl = LayerNorm::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("dim", self.dim, "Size of input and output.");
      visit("activation_tpl", self.activation_tpl);
      visit("ln_tpl", self.ln_tpl);
    }
  };
  MaskedLmHead(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  Child<Layer> dense_, ln_;
};
extern template const config::ConfigType& config::type_of<MaskedLmHead::Config>();

}  // namespace pax
