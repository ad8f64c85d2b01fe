#include "pax/layers/weight_norms.h"

#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

Tensor l2_normalize(Tensor x, std::vector<int64_t> dims, double epsilon) {
  return x / sqrt(reduce_sum(square(x), std::move(dims), Reduced::kKept) + epsilon);
}

WeightNormL2::WeightNormL2(const Config& config, const Scope& scope)
    : BaseNormalization(config, scope), g_(param("g", {.shape = {config.dim}, .init = WeightInit::constant(0.0)})) {}

Tensor WeightNormL2::fprop(Tensor x, Tensor) const {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i + 1 < x.rank(); ++i) dims.push_back(i);
  return l2_normalize(x, std::move(dims)) * (g_ + 1.0);
}

SpectralNorm::SpectralNorm(const Config& config, const Scope& scope)
    : BaseNormalization(config, scope),
      dim_(config.dim),
      n_power_iteration_(config.n_power_iteration),
      u_(param("u", {.shape = {config.dim},
                     .init = WeightInit::gaussian(),
                     .collection = Collection::kNonTrainable,
                     .tags = {.disallow_bfloat16_conversion = true}})) {}

Tensor SpectralNorm::fprop(Tensor x, Tensor) const {
  const Tensor w = convert(reshape(x, {-1, dim_}), u_.dtype());
  Tensor u = u_, v;
  for (int64_t i = 0; i < n_power_iteration_; ++i) {
    v = l2_normalize(einsum("md,d->m", w, u), {0});
    u = l2_normalize(einsum("m,md->d", v, w), {0});
  }
  u = stop_gradient(u), v = stop_gradient(v);
  if (!do_eval()) scope().update("u", u);
  const Tensor norm = einsum("m,m->", v, einsum("md,d->m", w, u));
  return convert(reshape(w / norm, x.shape()), fprop_dtype());
}

template const config::ConfigType& config::type_of<WeightNormL2::Config>();
template const config::ConfigType& config::type_of<SpectralNorm::Config>();

}  // namespace pax
