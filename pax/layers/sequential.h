#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// Layers of one input and one output, one after the other (praxis sequential.Sequential).
class Sequential final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Sequential;
    static constexpr std::string_view kName = "praxis.layers.Sequential";
    static constexpr std::string_view kAliases[] = {"praxis.layers.sequential.Sequential"};
    static constexpr std::string_view kDoc = "Layers, one after the other.";
    std::vector<Tpl<Layer>> layers;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("layers", self.layers, "Each takes what the one before it gives.");
    }
  };
  Sequential(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  std::vector<Child<Layer>> layers_;
};
extern template const config::ConfigType& config::type_of<Sequential::Config>();

}  // namespace pax
