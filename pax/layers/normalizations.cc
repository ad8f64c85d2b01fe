#include "pax/layers/normalizations.h"

#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

LayerNorm::LayerNorm(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  const auto vector_param = [&](std::string_view name, double start) {
    return param(name, {.shape = {config.dim},
                        .init = WeightInit::constant(start),
                        .split = weight_split("wt"),
                        .tags = {.skip_lp_regularization = true}});
  };
  if (config.use_scale) scale_ = vector_param("scale", config.direct_scale ? 1.0 : 0.0);
  if (config.use_bias) bias_ = vector_param("bias", 0.0);
}

Tensor LayerNorm::fprop(Tensor x) const {
  const Tensor wide = convert(x, DType::kF32);
  const Tensor centered = wide - expand_dims(reduce_mean(wide, {-1}), -1);
  const Tensor variance = expand_dims(reduce_mean(square(centered), {-1}), -1);
  Tensor y = convert(centered * rsqrt(variance + config_.epsilon), x.dtype());
  if (scale_) y = y * (config_.direct_scale ? scale_ : scale_ + 1.0);
  return bias_ ? y + bias_ : y;
}

}  // namespace pax
