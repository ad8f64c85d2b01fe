#include "pax/optim/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/optim/checked.h"
#include "pax/params/weight_init.h"

namespace pax {
namespace {

constexpr std::string_view kState = "opt_states_0";
const std::string kCount = "opt_states_0/count";

std::vector<std::string> texts(const VariablePatterns& patterns) {
  if (const auto* one = std::get_if<std::string>(&patterns)) {
    return one->empty() ? std::vector<std::string>{} : std::vector{*one};
  }
  return std::get<std::vector<std::string>>(patterns);
}

std::vector<Pattern> compiled(const VariablePatterns& patterns) {
  std::vector<Pattern> out;
  for (const std::string& text : texts(patterns)) out.emplace_back(text);
  return out;
}

bool any_matches(const std::vector<Pattern>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) { return pattern.matches(name); });
}

std::string slot_path(const Leaf& leaf, std::string_view slot) { return join_path(join_path(kState, slot), leaf.name); }

Tensor find(const Tree<Tensor>& tree, std::string_view name, std::string_view what) {
  const auto at = tree.find(name);
  if (at == tree.end() || !at->second) fail<ShapeError>("learner: {} {} was not given", what, name);
  return at->second;
}

Tensor square_sum(Tensor x) { return convert(reduce_sum(square(x)), DType::kF32); }

/// sqrt of the sum of all squares; f32. Null when there is nothing.
Tensor global_norm(const Tree<Tensor>& tensors) {
  Tensor sum;
  for (const auto& [name, x] : tensors) sum = sum ? sum + square_sum(x) : square_sum(x);
  return sum ? sqrt(sum) : sum;
}

void add_norms(std::string_view prefix, const Tree<Tensor>& tensors, Tree<Tensor>& metrics) {
  for (const auto& [name, x] : tensors) metrics[join_path(prefix, name)] = sqrt(square_sum(x));
}

/// `x` made smaller where `norm` exceeds `bound`.
Tensor clip(Tensor x, Tensor scale) { return x * convert(scale, x.dtype()); }
Tensor clip_scale(Tensor norm, double bound) { return minimum(bound / norm, 1.0); }

/// `next` where the step counts, `before` where it is skipped. A null `valid` counts.
Tensor unless_skipped(Tensor valid, Tensor next, Tensor before) { return valid ? select(valid, next, before) : next; }

/// decay min(d, (1 + n) / (10 + n)): the average forgets its start.
Tensor moving_average(Tensor average, Tensor weight, Tensor count, double decay) {
  if (!is_floating(weight.dtype())) return weight;
  const Tensor n = convert(count, DType::kF32);
  const Tensor share = 1.0 - minimum((1.0 + n) / (10.0 + n), decay);
  return average - convert(share, average.dtype()) * (average - weight);
}

}  // namespace

Tensor first_value(const StateSpec& spec, Graph& graph, const Tree<Tensor>& weights) {
  if (!spec.init_from.empty()) return convert(find(weights, spec.init_from, "the first value of"), spec.type.dtype);
  return full(graph, spec.type, spec.init);
}

void Learner::Config::validate(config::Errors& errors) const {
  if (!optimizer) errors.add("optimizer", "is not set; name one, such as {__class__: praxis.optimizers.Adam}");
  if (!texts(bprop_variable_exclusion).empty() && !texts(bprop_variable_inclusion).empty()) {
    errors.add("bprop_variable_inclusion", "excludes bprop_variable_exclusion; set one of them");
  }
  if (force_repeat_prefix_structure && !vectorize_on_repeat_prefix) {
    errors.add("force_repeat_prefix_structure", "needs vectorize_on_repeat_prefix");
  }
  if (skip_zero_gradients.value_or(false)) errors.add("skip_zero_gradients", "is not supported; leave it unset");
  if (!stochastic_gradient.is_null()) errors.add("stochastic_gradient", "is not supported; leave it unset");
}

Learner::Learner(const Config& config)
    : config_(checked(config)),
      optimizer_(config.optimizer.build()),
      excluded_(compiled(config.bprop_variable_exclusion)),
      included_(compiled(config.bprop_variable_inclusion)) {}

const Optimizer& Learner::optimizer_of(std::string_view) const { return *optimizer_; }

void Learner::add_learning_rates(Tensor count, Tree<Tensor>& metrics) const {
  metrics["learning/lr"] = optimizer_->learning_rate(count);
}

double Learner::learning_rate_at(int64_t count) const { return optimizer_->learning_rate_at(count); }

bool Learner::trains(const Param& param) const {
  if (param.spec.collection != Collection::kParams) return false;
  const std::string name = param.state_name();
  return included_.empty() ? !any_matches(excluded_, name) : any_matches(included_, name);
}

bool Learner::averages(const Param& param) const {
  if (optimizer_->shared_config().ema_decay <= 0 || param.spec.tags.overwrite_with_gradient) return false;
  return trains(param) || param.spec.collection == Collection::kNonTrainable;
}

std::vector<const Param*> Learner::trained(const std::deque<Param>& params) const {
  std::vector<const Param*> out;
  for (const Param& param : params) {
    if (trains(param)) out.push_back(&param);
  }
  return out;
}

/// Those that have an optimizer's state.
std::vector<const Param*> Learner::optimized(const std::deque<Param>& params) const {
  std::vector<const Param*> out;
  for (const Param& param : params) {
    const bool kept = config_.keep_optimizer_state_for_excluded_vars && param.spec.collection == Collection::kParams;
    if ((kept || trains(param)) && !param.spec.tags.overwrite_with_gradient) out.push_back(&param);
  }
  return out;
}

Leaf Learner::leaf_of(const Param& param) const {
  Leaf leaf{.name = param.state_name(), .type = param.spec.stored_type(), .split = param.spec.split};
  leaf.split.resize(static_cast<size_t>(leaf.type.shape.rank()));
  leaf.skip_lp_regularization = param.spec.tags.skip_lp_regularization;
  if (config_.vectorize_on_repeat_prefix) leaf.num_prefix = static_cast<int64_t>(param.spec.repeat_prefix.size());
  return leaf;
}

std::string Learner::ema_name(const Param& param) const {
  return averages(param) ? slot_path(leaf_of(param), "ema") : std::string();
}

std::vector<StateSpec> Learner::state_specs(const std::deque<Param>& params) const {
  std::vector<StateSpec> specs{{.name = kCount, .type = {DType::kS32, {}}}};
  for (const Param* param : optimized(params)) {
    const Leaf leaf = leaf_of(*param);
    for (Slot& slot : optimizer_of(leaf.name).slots(leaf)) {
      specs.push_back({.name = slot_path(leaf, slot.name),
                       .type = std::move(slot.type),
                       .sharding = Sharding{std::move(slot.split)},
                       .init = slot.init,
                       .init_from = slot.init_from_weight ? leaf.name : ""});
    }
  }
  for (const Param& param : params) {
    if (!averages(param)) continue;
    const Leaf leaf = leaf_of(param);
    specs.push_back(
        {.name = slot_path(leaf, "ema"), .type = leaf.type, .sharding = Sharding{leaf.split}, .init_from = leaf.name});
  }
  return specs;
}

ScaledGradients Learner::scale_gradients(const Tree<Tensor>& grads, Tree<Tensor>& metrics) const {
  return scale(grads, optimizer_->shared_config(), "", metrics);
}

ScaledGradients Learner::scale(const Tree<Tensor>& grads, const OptimizerConfig& config, const std::string& prefix,
                               Tree<Tensor>& metrics) const {
  ScaledGradients out{.grads = grads};
  if (grads.empty()) return out;
  const std::string learning = "learning/" + prefix;
  if (config_.grad_norm_individual_vars) add_norms("per_var_grad_norm/" + prefix, grads, metrics);
  const Tensor raw_norm = global_norm(grads);
  if (config_.grad_norm_summary) metrics[learning + "raw_grad_norm"] = raw_norm;
  if (config_.check_valid_step) {
    out.valid_step = is_finite(raw_norm);
    const double bound = config_.skip_step_gradient_norm_value;
    if (bound != 0) out.valid_step = logical_and(out.valid_step, lt(raw_norm, bound));
    metrics[learning + "is_valid_step"] = convert(out.valid_step, DType::kF32);
  }
  Tensor scale = full_like(raw_norm, 1.0);
  if (config.clip_gradient_norm_to_value > 0) {
    scale = clip_scale(raw_norm, config.clip_gradient_norm_to_value);
    for (auto& [name, grad] : out.grads) grad = clip(grad, scale);
  } else if (config.clip_gradient_single_norm_to_value > 0) {
    for (auto& [name, grad] : out.grads) {
      grad = clip(grad, clip_scale(sqrt(square_sum(grad)), config.clip_gradient_single_norm_to_value));
    }
  }
  metrics[learning + "grad_scale"] = scale;
  if (config_.grad_norm_summary) metrics[learning + "clipped_grad_norm"] = global_norm(out.grads);
  return out;
}

LearnerResult Learner::apply(const std::deque<Param>& params, const Tree<Tensor>& grads,
                             const Tree<Tensor>& states) const {
  const Tensor count = find(states, kCount, "state");
  const Graph::PathGuard path(count.graph(), "learner");
  LearnerResult out;
  add_learning_rates(count, out.metrics);
  Tree<Tensor> to_scale, before;
  for (const Param* param : trained(params)) {
    const std::string name = param->state_name();
    const Tensor grad = find(grads, name, "the gradient of");
    if (param->spec.tags.overwrite_with_gradient) {
      out.weights[name] = convert(grad, param->value.dtype());
    } else {
      to_scale[name] = grad;
      before[name] = param->value;
    }
  }
  const ScaledGradients scaled = scale_gradients(to_scale, out.metrics);
  const Tensor valid = config_.enable_skip_step_on_gradient_anomalies ? scaled.valid_step : Tensor();
  const auto next_state = [&](const std::string& name, Tensor next) {
    out.states[name] = unless_skipped(valid, next, find(states, name, "state"));
  };

  std::map<const Optimizer*, Tensor> rates;
  for (const Param* param : optimized(params)) {
    const Leaf leaf = leaf_of(*param);
    const Optimizer& optimizer = optimizer_of(leaf.name);
    Tensor& rate = rates[&optimizer];
    if (!rate) rate = optimizer.learning_rate(count);
    const auto grad = scaled.grads.find(leaf.name);
    LeafStep step{.leaf = leaf,
                  .grad = grad != scaled.grads.end() ? grad->second : zeros_like(param->value),
                  .weight = param->value,
                  .count = count,
                  .learning_rate = rate};
    for (const Slot& slot : optimizer.slots(leaf)) {
      step.slots.emplace_back(slot.name, find(states, slot_path(leaf, slot.name), "state"));
    }
    const LeafUpdate update = optimizer.update(step);
    for (const auto& [slot, value] : update.slots) next_state(slot_path(leaf, slot), value);
    if (!trains(*param)) continue;
    const Tensor change = unless_skipped(valid, update.update, zeros_like(update.update));
    out.updates[leaf.name] = change;
    out.weights[leaf.name] = moved(*param, change);
  }
  for (const Param& param : params) {
    if (!averages(param)) continue;
    const std::string name = ema_name(param);
    next_state(name,
               moving_average(find(states, name, "state"), param.value, count, optimizer_->shared_config().ema_decay));
  }
  next_state(kCount, count + 1.0);
  if (config_.grad_norm_summary && !out.updates.empty()) {
    out.metrics["learning/applied_grad_norm"] = global_norm(out.updates);
  }
  if (config_.var_norm_summary && !before.empty()) out.metrics["learning/var_norm"] = global_norm(before);
  if (config_.var_norm_individual_vars) add_norms("per_var_norm", before, out.metrics);
  return out;
}

/// The weight after `change`, scaled to the weight's initial spread if the config says so.
Tensor Learner::moved(const Param& param, Tensor change) const {
  const ParamSpec& spec = param.spec;
  if (config_.scale_update_by_var_norm && spec.shape.rank() > 1)
    change = change * initial_scale(*spec.init, spec.shape, spec.fan_in_axes, spec.fan_out_axes);
  return param.value + convert(change, param.value.dtype());
}

template const config::ConfigType& config::type_of<Learner::Config>();

}  // namespace pax
