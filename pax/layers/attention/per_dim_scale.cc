#include "pax/layers/attention/per_dim_scale.h"

#include <cmath>

#include "pax/ops/elementwise.h"

namespace pax {

PerDimScale::PerDimScale(const Config& config, const Scope& scope)
    : Layer(config, scope), w_(param("per_dim_scale", {.shape = {config.dim}, .init = WeightInit::constant(0.0)})) {}

Tensor PerDimScale::fprop(Tensor x) const {
  if (x.rank() == 0) fail("input is a scalar; its last axis must be the scaled one");
  constexpr double kOneOverSoftplusOfZero = 1.442695041;
  return x * (softplus(w_) * (kOneOverSoftplusOfZero / std::sqrt(static_cast<double>(x.dim(-1)))));
}

template const config::ConfigType& config::type_of<PerDimScale::Config>();

}  // namespace pax
