#include "pax/optim/update_rules.h"

#include <limits>

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"

namespace pax {

Tensor rms(const Leaf& leaf, Tensor x) { return sqrt(reduce_mean(square(x), leaf.own_dims(), Reduced::kKept)); }

Tensor norm(const Leaf& leaf, Tensor x) { return sqrt(reduce_sum(square(x), leaf.own_dims(), Reduced::kKept)); }

Tensor infinite_to_nan(Tensor x) { return select(is_finite(x), x, std::numeric_limits<double>::quiet_NaN()); }

Tensor cap(Tensor x, Tensor rms, double threshold) { return x / maximum(rms / threshold, 1.0); }

Tensor bias_corrected_decay(Tensor count, double decay) {
  const Tensor t = convert(count, DType::kF32);
  const Tensor base = full_like(t, decay);
  return decay * (1.0 - power(base, t)) / (1.0 - power(base, t + 1.0));
}

Tensor blend(Tensor old, Tensor now, Tensor decay) { return decay * old + (1.0 - decay) * now; }
Tensor blend(Tensor old, Tensor now, double decay) { return decay * old + (1.0 - decay) * now; }

Tensor scale_by_trust_ratio(const Leaf& leaf, Tensor x, Tensor weight, double coefficient, double eps) {
  const Tensor w_norm = norm(leaf, weight);
  const Tensor x_norm = norm(leaf, x);
  const Tensor none = logical_or(eq(w_norm, 0.0), eq(x_norm, 0.0));
  return x * select(none, 1.0, coefficient * w_norm / (x_norm + eps));
}

Momentum momentum(Tensor x, Tensor trace, double decay, bool nesterov) {
  const Tensor next = x + decay * trace;
  return {nesterov ? x + decay * next : next, next};
}

LeafUpdate scale_by_adam(const LeafStep& step, const AdamMoments& c) {
  const Tensor mu = blend(step.slot("raw/mu"), step.grad, c.b1);
  const Tensor nu = blend(step.slot("raw/nu"), square(step.grad), c.b2);
  const Tensor t = convert(step.count, DType::kF32) + 1.0;
  const auto corrected = [&](Tensor mean, double decay) { return mean / (1.0 - power(full_like(t, decay), t)); };
  const Tensor update = corrected(mu, c.b1) / (sqrt(corrected(nu, c.b2) + c.eps_root) + c.eps);
  return {update, {{"raw/mu", mu}, {"raw/nu", nu}}};
}

Slot slot_like(const Leaf& leaf, std::string name, double init, DType dtype) {
  return {.name = std::move(name), .type = {dtype, leaf.type.shape}, .split = leaf.split, .init = init};
}

Slot slot_without(const Leaf& leaf, std::string name, int64_t own_dim, DType dtype) {
  const int64_t dim = leaf.num_prefix + own_dim;
  Slot slot = slot_like(leaf, std::move(name), 0, dtype);
  slot.type.shape = slot.type.shape.without(dim);
  slot.split.erase(slot.split.begin() + dim);
  return slot;
}

}  // namespace pax
