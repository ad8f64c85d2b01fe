#include "pax/optim/multi_optimizer_learner.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/logic.h"
#include "pax/optim/checked.h"

namespace pax {

void MultiOptimizerLearner::Config::validate(config::Errors& errors) const {
  Learner::Config::validate(errors);
  const size_t count = auxiliary_optimizers.size();
  const auto require_count = [&](std::string_view field, size_t size) {
    if (size != count) errors.add(field, fmt::format("{} entries for {} auxiliary_optimizers", size, count));
  };
  require_count("auxiliary_regex", auxiliary_regex.size());
  require_count("auxiliary_names", auxiliary_names.size());
}

MultiOptimizerLearner::MultiOptimizerLearner(const Config& config)
    : Learner(checked(config)), separate_scaling_(config.apply_separate_scaling) {
  for (size_t i = 0; i < config.auxiliary_optimizers.size(); ++i) {
    auxiliaries_.push_back(
        {config.auxiliary_names[i], Pattern(config.auxiliary_regex[i]), config.auxiliary_optimizers[i].build()});
  }
}

const Optimizer& MultiOptimizerLearner::optimizer_of(std::string_view variable) const {
  const Auxiliary* found = nullptr;
  for (const Auxiliary& auxiliary : auxiliaries_) {
    if (!auxiliary.pattern.matches_start(variable)) continue;
    if (found != nullptr) {
      fail<ConfigError>("learner.auxiliary_regex: both {} and {} match {}; they must not overlap", found->name,
                        auxiliary.name, variable);
    }
    found = &auxiliary;
  }
  return found != nullptr ? *found->optimizer : optimizer();
}

void MultiOptimizerLearner::add_learning_rates(Tensor count, Tree<Tensor>& metrics) const {
  metrics["learning/lr_main"] = metrics["learning/lr"] = optimizer().learning_rate(count);
  for (const Auxiliary& auxiliary : auxiliaries_) {
    metrics["learning/lr_" + auxiliary.name] = auxiliary.optimizer->learning_rate(count);
  }
}

ScaledGradients MultiOptimizerLearner::scale_gradients(const Tree<Tensor>& grads, Tree<Tensor>& metrics) const {
  if (!separate_scaling_) return Learner::scale_gradients(grads, metrics);
  ScaledGradients out;
  const auto scale_those_of = [&](const Optimizer& optimizer, const std::string& name) {
    Tree<Tensor> own;
    for (const auto& [variable, grad] : grads) {
      if (&optimizer_of(variable) == &optimizer) own[variable] = grad;
    }
    ScaledGradients scaled = scale(own, optimizer.shared_config(), name + "/", metrics);
    out.grads.merge(scaled.grads);
    if (!scaled.valid_step) return;
    out.valid_step = out.valid_step ? logical_and(out.valid_step, scaled.valid_step) : scaled.valid_step;
  };
  scale_those_of(optimizer(), "main");
  for (const Auxiliary& auxiliary : auxiliaries_) scale_those_of(*auxiliary.optimizer, auxiliary.name);
  return out;
}

template const config::ConfigType& config::type_of<MultiOptimizerLearner::Config>();

}  // namespace pax
