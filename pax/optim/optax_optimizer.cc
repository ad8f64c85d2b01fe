#include "pax/optim/optax_optimizer.h"

#include "pax/optim/checked.h"

namespace pax {

void OptaxOptimizer::Config::validate(config::Errors& errors) const {
  OptimizerConfig::validate(errors);
  if (!grad_tx) errors.add("grad_tx", "is not set; name the optimizer that makes the updates");
}

OptaxOptimizer::OptaxOptimizer(const Config& config) : Optimizer(checked(config)), grad_tx_(config.grad_tx.build()) {}

LeafUpdate OptaxOptimizer::raw_update(const LeafStep& step) const {
  LeafStep inner = step;
  inner.learning_rate = grad_tx_->learning_rate(step.count);
  return grad_tx_->raw_update(inner);
}

template const config::ConfigType& config::type_of<OptaxOptimizer::Config>();

}  // namespace pax
