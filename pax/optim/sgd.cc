#include "pax/optim/sgd.h"

#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/optim/update_rules.h"

namespace pax {
namespace {

constexpr const char* kTrace = "raw/trace";
constexpr const char* kSumOfSquares = "raw/sum_of_squares";

}  // namespace

std::vector<Slot> Sgd::raw_slots(const Leaf& leaf) const {
  if (!config_.momentum) return {};
  return {slot_like(leaf, kTrace)};
}

LeafUpdate Sgd::raw_update(const LeafStep& step) const {
  if (!config_.momentum) return {-step.learning_rate * step.grad, {}};
  const Momentum moved = momentum(step.grad, step.slot(kTrace), *config_.momentum, config_.nesterov);
  return {-step.learning_rate * moved.update, {{kTrace, moved.trace}}};
}

std::vector<Slot> Lars::raw_slots(const Leaf& leaf) const { return {slot_like(leaf, kTrace)}; }

LeafUpdate Lars::raw_update(const LeafStep& step) const {
  Tensor x = step.grad;
  if (config_.weight_decay != 0 && config_.weight_decay_mask) x = x + config_.weight_decay * step.weight;
  if (config_.trust_ratio_mask) {
    x = scale_by_trust_ratio(step.leaf, x, step.weight, config_.trust_coefficient, config_.eps);
  }
  const Momentum moved = momentum(-step.learning_rate * x, step.slot(kTrace), config_.momentum, config_.nesterov);
  return {moved.update, {{kTrace, moved.trace}}};
}

std::vector<Slot> Adagrad::raw_slots(const Leaf& leaf) const {
  return {slot_like(leaf, kSumOfSquares, config_.initial_accumulator_value)};
}

LeafUpdate Adagrad::raw_update(const LeafStep& step) const {
  const Tensor sum = step.slot(kSumOfSquares) + square(step.grad);
  const Tensor factor = select(gt(sum, 0.0), rsqrt(sum + config_.epsilon), 0.0);
  return {-step.learning_rate * factor * step.grad, {{kSumOfSquares, sum}}};
}

template const config::ConfigType& config::type_of<Sgd::Config>();
template const config::ConfigType& config::type_of<Lars::Config>();
template const config::ConfigType& config::type_of<Adagrad::Config>();
template const config::ConfigType& config::type_of<ShardedAdagrad::Config>();

}  // namespace pax
