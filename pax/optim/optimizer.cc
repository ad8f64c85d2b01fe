#include "pax/optim/optimizer.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/optim/checked.h"
#include "pax/optim/update_rules.h"

namespace pax {
namespace {

constexpr std::string_view kFirstWeights = "ewc/pretrain_vars";

bool is_set(const std::optional<double>& weight) { return weight && *weight != 0; }

bool skips_lp(const OptimizerConfig& config, const Leaf& leaf) {
  return leaf.skip_lp_regularization || (config.skip_lp_1d_vectors && leaf.rank() <= 1);
}

double ewc_weight(const OptimizerConfig& config, const Leaf& leaf) {
  double weight = config.ewc_regularizer_weight / 2;
  if (config.ewc_weight_per_var) {
    const auto own = config.ewc_weight_per_var->find(leaf.name);
    if (own == config.ewc_weight_per_var->end()) {
      fail<ConfigError>("ewc_weight_per_var: has no weight for variable {}", leaf.name);
    }
    weight *= own->second;
  }
  return weight;
}

}  // namespace

std::vector<int64_t> Leaf::own_dims() const {
  std::vector<int64_t> dims;
  for (int64_t i = num_prefix; i < type.shape.rank(); ++i) dims.push_back(i);
  return dims;
}

Tensor LeafStep::slot(std::string_view name) const {
  for (const auto& [key, value] : slots) {
    if (key == name) return value;
  }
  fail<ShapeError>("{}: the optimizer's state {} was not given", leaf.name, name);
}

void OptimizerConfig::validate(config::Errors& errors) const {
  if (is_set(l1_regularizer_weight) && is_set(l2_regularizer_weight)) {
    errors.add("l1_regularizer_weight", "L1 and L2 regularization exclude each other; set one of them");
  }
  if (is_set(decoupled_weight_decay) && (is_set(l1_regularizer_weight) || is_set(l2_regularizer_weight))) {
    errors.add("decoupled_weight_decay", "excludes L1 and L2 regularization; set one of them");
  }
  if (clip_gradient_norm_to_value > 0 && clip_gradient_single_norm_to_value > 0) {
    errors.add("clip_gradient_single_norm_to_value", "excludes clip_gradient_norm_to_value; set one of them");
  }
  if (ema_decay < 0 || ema_decay >= 1) errors.add("ema_decay", fmt::format("{} must lie in [0, 1)", ema_decay));
}

Optimizer::Optimizer(const OptimizerConfig& config) : config_(checked(config)) {
  if (config_.lr_schedule) schedule_ = config_.lr_schedule.build();
}

const Schedule& Optimizer::schedule() const {
  if (!schedule_) fail<ConfigError>("optimizer.lr_schedule: is not set; {{__class__: Constant}} leaves the rate alone");
  return *schedule_;
}

Tensor Optimizer::learning_rate(Tensor count) const { return schedule().value(count) * config_.learning_rate; }

double Optimizer::learning_rate_at(int64_t count) const { return schedule().value_at(count) * config_.learning_rate; }

std::vector<Slot> Optimizer::slots(const Leaf& leaf) const {
  std::vector<Slot> slots = raw_slots(leaf);
  if (config_.ewc_regularizer_weight > 0) {
    Slot first = slot_like(leaf, std::string(kFirstWeights));
    first.init_from_weight = true;
    slots.push_back(std::move(first));
  }
  return slots;
}

LeafUpdate Optimizer::update(const LeafStep& given) const {
  LeafStep step = given;
  step.grad = convert(step.grad, DType::kF32);
  step.weight = convert(step.weight, DType::kF32);
  const bool skip = step.leaf.skip_lp_regularization;
  if (is_set(config_.l1_regularizer_weight) && !skips_lp(config_, step.leaf)) {
    step.grad = step.grad + *config_.l1_regularizer_weight * sign(step.weight);
  }
  if (is_set(config_.l2_regularizer_weight) && !skips_lp(config_, step.leaf)) {
    step.grad = step.grad + *config_.l2_regularizer_weight * step.weight;
  }
  LeafUpdate out = raw_update(step);
  if (is_set(config_.decoupled_weight_decay) && !skip) {
    out.update = out.update - step.learning_rate * *config_.decoupled_weight_decay * step.weight;
  }
  if (config_.ewc_regularizer_weight > 0) {
    const Tensor first = select(eq(step.count, 0.0), step.weight, step.slot(kFirstWeights));
    out.update = out.update - step.learning_rate * ewc_weight(config_, step.leaf) * (step.weight - first);
    out.slots.emplace_back(kFirstWeights, first);
  }
  return out;
}

}  // namespace pax
