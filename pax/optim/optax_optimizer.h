#pragma once

#include <memory>

#include "pax/optim/optimizer.h"

namespace pax {

/// Puts Praxis's regularization around a transformation that has a learning rate of its own: `grad_tx` is any
/// optimizer, of which only the optimizer proper counts (praxis optimizers.OptaxOptimizer).
class OptaxOptimizer final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = OptaxOptimizer;
    static constexpr std::string_view kName = "praxis.optimizers.OptaxOptimizer";
    Tpl<Optimizer> grad_tx;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("grad_tx", self.grad_tx);
    }
    void validate(config::Errors& errors) const;
  };
  explicit OptaxOptimizer(const Config& config);
  std::vector<Slot> raw_slots(const Leaf& leaf) const override { return grad_tx_->raw_slots(leaf); }
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  std::shared_ptr<Optimizer> grad_tx_;
};
extern template const config::ConfigType& config::type_of<OptaxOptimizer::Config>();

}  // namespace pax
