#pragma once

#include "pax/optim/optimizer.h"

// Steps that several optimizers share. Where a mean or a norm is taken it is of one variable: stacked layers
// (Leaf::num_prefix) each have their own, kept as dimensions of size 1.

namespace pax {

/// sqrt(mean(x^2)).
Tensor rms(const Leaf& leaf, Tensor x);
/// sqrt(sum(x^2)).
Tensor norm(const Leaf& leaf, Tensor x);
/// Infinities become NaN, so that they cannot be divided away unseen.
Tensor infinite_to_nan(Tensor x);
/// x / max(1, rms / threshold).
Tensor cap(Tensor x, Tensor rms, double threshold);

/// decay (1 - decay^t) / (1 - decay^(t+1)) at update t = `count`: a decay that needs no bias correction afterwards
/// (Shazeer and Stern 2018, section 7.1).
Tensor bias_corrected_decay(Tensor count, double decay);

/// decay * old + (1 - decay) * now.
Tensor blend(Tensor old, Tensor now, Tensor decay);
Tensor blend(Tensor old, Tensor now, double decay);

/// `x` scaled by coefficient |w| / (|x| + eps); as it is where one of the norms is 0 (optax.scale_by_trust_ratio).
Tensor scale_by_trust_ratio(const Leaf& leaf, Tensor x, Tensor weight, double coefficient, double eps);

/// What momentum makes of `x`: the trace decay * trace + x, or with Nesterov's look-ahead x + decay * that.
struct Momentum {
  Tensor update;
  Tensor trace;
};
Momentum momentum(Tensor x, Tensor trace, double decay, bool nesterov);

/// The constants of optax.scale_by_adam.
struct AdamMoments {
  double b1, b2, eps, eps_root;
};
/// Adam as in its paper: means corrected for their bias afterwards. Keeps `raw/mu` and `raw/nu`.
LeafUpdate scale_by_adam(const LeafStep& step, const AdamMoments& c);

/// A slot like the variable itself, in float32 unless told otherwise.
Slot slot_like(const Leaf& leaf, std::string name, double init = 0, DType dtype = DType::kF32);
/// The same without one of the variable's own dimensions (0 is the first after the prefix).
Slot slot_without(const Leaf& leaf, std::string name, int64_t own_dim, DType dtype = DType::kF32);

}  // namespace pax
