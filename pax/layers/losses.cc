#include "pax/layers/losses.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"

namespace pax {
namespace {

// Temperature 1 is a limit of the formulas, so each has a second form there. Gradients are given in closed form at the
// end: nothing here is differentiated, and what the form that is not chosen computes does not matter.

constexpr int kIterations = 5;

/// (u^(1-t) - 1) / (1 - t), log u at t = 1.
Tensor log_t(Tensor u, Tensor t) {
  const Tensor other = 1.0 - t;
  return select(eq(t, 1.0), log(u), (power(u, other) - 1.0) / other);
}

/// max(1 + (1 - t) u, 0)^(1 / (1 - t)), e^u at t = 1.
Tensor exp_t(Tensor u, Tensor t) {
  const Tensor other = 1.0 - t;
  return select(eq(t, 1.0), exp(u), power(maximum(other * u + 1.0, 0.0), 1.0 / other));
}

Tensor sum_classes(Tensor x) { return reduce_sum(x, {-1}, Reduced::kKept); }

/// What to subtract from activations whose maximum is 0 so that exp_t of them sums to 1, for t > 1: a fixed point.
Tensor normalization_above_1(Tensor activations, Tensor t) {
  Tensor scaled = activations;
  for (int i = 0; i < kIterations; ++i) scaled = activations * power(sum_classes(exp_t(scaled, t)), 1.0 - t);
  return -log_t(1.0 / sum_classes(exp_t(scaled, t)), t);
}

/// The same for t < 1, by halving the interval.
Tensor normalization_below_1(Tensor activations, Tensor t) {
  const Tensor within = convert(gt(activations, -1.0 / (1.0 - t)), activations.dtype());
  Tensor upper = -log_t(1.0 / sum_classes(within), t);
  Tensor lower = zeros_like(upper);
  for (int i = 0; i < kIterations; ++i) {
    const Tensor middle = (upper + lower) / 2.0;
    const Tensor too_far = lt(sum_classes(exp_t(activations - middle, t)), 1.0);
    lower = select(too_far, lower, middle);
    upper = select(too_far, middle, upper);
  }
  return (upper + lower) / 2.0;
}

Tensor tempered_softmax(Tensor activations, Tensor t) {
  const Tensor centered = activations - reduce_max(activations, {-1}, Reduced::kKept);
  const Tensor normalization =
      select(lt(t, 1.0), normalization_below_1(centered, t), normalization_above_1(centered, t));
  return select(eq(t, 1.0), softmax(activations), exp_t(centered - normalization, t));
}

}  // namespace

Tensor bi_tempered_logistic_loss(Tensor logits, Tensor labels, const Temperatures& t, double label_smoothing) {
  Tensor y = stop_gradient(labels);
  if (label_smoothing > 0) {
    const auto classes = static_cast<double>(labels.dim(-1));
    y = y * (1.0 - label_smoothing * classes / (classes - 1.0)) + label_smoothing / (classes - 1.0);
  }
  const Tensor fixed = stop_gradient(logits);
  const Tensor p = tempered_softmax(fixed, t.t2);

  const Tensor other = 2.0 - t.t1;
  const Tensor divergence = (log_t(y + 1e-10, t.t1) - log_t(p, t.t1)) * y - (power(y, other) - power(p, other)) / other;
  const Tensor loss = reduce_sum(divergence, {-1});

  const Tensor pull = (p - y) * power(p, t.t2 - t.t1);
  const Tensor escorts = power(p, t.t2);
  const Tensor derivative = pull - escorts / sum_classes(escorts) * sum_classes(pull);
  // The second term is 0; its gradient is the derivative.
  return stop_gradient(loss) + reduce_sum(stop_gradient(derivative) * (logits - fixed), {-1});
}

BiTemperedLoss::BiTemperedLoss(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  if (config.end_step < config.start_step) {
    pax::fail<ConfigError>("{}: end_step {} comes before start_step {}", scope.path(), config.end_step,
                           config.start_step);
  }
  count_ = param("count", {.shape = {},
                           .init = WeightInit::constant(0.0),
                           .dtype = DType::kF32,
                           .collection = Collection::kNonTrainable,
                           .tags = {.disallow_bfloat16_conversion = true}});
}

Tensor BiTemperedLoss::fprop(Tensor logits, Tensor labels) const {
  Tensor plain = full(graph(), {DType::kF32, {}}, 0.0);  // share of temperature 1
  if (!do_eval()) {
    scope().update("count", count_ + 1.0);
    const auto start = static_cast<double>(config_.start_step), end = static_cast<double>(config_.end_step);
    const Tensor moving = maximum(1.0 - (count_ - start) / std::max(end - start, 1.0), 0.0);
    const Tensor before = select(lt(count_, end), full_like(count_, config_.end_step > 0 ? 1.0 : 0.0), 0.0);
    plain = select(ge(count_, start), moving, before);
  }
  const Temperatures t{plain + config_.t1 * (1.0 - plain), plain + config_.t2 * (1.0 - plain)};
  return bi_tempered_logistic_loss(convert(logits, DType::kF32), labels, t, config_.label_smoothing);
}

template const config::ConfigType& config::type_of<BiTemperedLoss::Config>();

}  // namespace pax
