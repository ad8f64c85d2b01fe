#include "pax/layers/sequential.h"

#include <fmt/format.h>

#include "pax/base/error.h"

namespace pax {

Sequential::Sequential(const Config& config, const Scope& scope) : Layer(config, scope) {
  if (config.layers.empty()) pax::fail<ConfigError>("{}: layers is empty; name at least one", scope.path());
  for (const Tpl<Layer>& layer : config.layers) {
    layers_.push_back(child(fmt::format("layers_{}", layers_.size()), layer));
  }
}

Tensor Sequential::fprop(Tensor x) const {
  for (const Child<Layer>& layer : layers_) x = layer->fprop(x);
  return x;
}

template const config::ConfigType& config::type_of<Sequential::Config>();

}  // namespace pax
