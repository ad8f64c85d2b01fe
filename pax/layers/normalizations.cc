#include "pax/layers/normalizations.h"

#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"

namespace pax {
namespace {

Tensor mean_square(Tensor x) { return reduce_mean(square(x), {-1}, Reduced::kKept); }

}  // namespace

Tensor IdentityNorm::fprop(Tensor x, Tensor) const { return x; }

LayerNorm::LayerNorm(const Config& config, const Scope& scope) : BaseNormalization(config, scope), config_(config) {
  const auto vector_param = [&](std::string_view name, double start) {
    return param(name, {.shape = {config.dim},
                        .init = WeightInit::constant(start),
                        .split = weight_split("wt"),
                        .tags = {.skip_lp_regularization = true}});
  };
  if (config.use_scale) scale_ = vector_param("scale", config.direct_scale ? 1.0 : 0.0);
  if (config.use_bias) bias_ = vector_param("bias", 0.0);
}

Tensor LayerNorm::fprop(Tensor x, Tensor) const {
  const Tensor wide = config_.reductions_in_fp32 ? convert(x, DType::kF32) : x;
  const Tensor centered = wide - reduce_mean(wide, {-1}, Reduced::kKept);
  Tensor y = convert(centered * rsqrt(mean_square(centered) + config_.epsilon), x.dtype());
  if (scale_) y = y * (config_.direct_scale ? scale_ : 1.0 + scale_);
  return bias_ ? y + bias_ : y;
}

RmsNorm::RmsNorm(const Config& config, const Scope& scope)
    : BaseNormalization(config, scope),
      config_(config),
      scale_(param("scale", {.shape = {config.dim},
                             .init = WeightInit::constant(config.direct_scale ? 1.0 : 0.0),
                             .split = weight_split("wt")})) {}

Tensor RmsNorm::fprop(Tensor x, Tensor) const {
  if (config_.intermediate_dtype) x = convert(x, *config_.intermediate_dtype);
  const Tensor y = convert(x * rsqrt(mean_square(x) + config_.epsilon), fprop_dtype());
  return y * (config_.direct_scale ? scale_ : 1.0 + scale_);
}

RmsNormNoScale::RmsNormNoScale(const Config& config, const Scope& scope)
    : BaseNormalization(config, scope), epsilon_(config.epsilon) {}

Tensor RmsNormNoScale::fprop(Tensor x, Tensor) const {
  const Tensor wide = convert(x, DType::kF32);
  const Tensor mean = reduce_mean(convert(square(x), DType::kF32), {-1}, Reduced::kKept);
  return convert(wide * rsqrt(mean + epsilon_), x.dtype());
}

template const config::ConfigType& config::type_of<IdentityNorm::Config>();
template const config::ConfigType& config::type_of<LayerNorm::Config>();
template const config::ConfigType& config::type_of<RmsNorm::Config>();
template const config::ConfigType& config::type_of<RmsNormNoScale::Config>();

}  // namespace pax
