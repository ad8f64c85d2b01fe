#pragma once

#include <memory>

#include "pax/optim/optimizer.h"

namespace pax {

/// Adds up the gradients of `num_sub_batches` steps, then lets another optimizer take one step with their mean; the
/// steps between change nothing but the sum (praxis optimizers.ShardedStaticAccumulator). Clipping set here acts on
/// each step's gradients. Regularization set on `optimizer_tpl` is not looked at.
class StaticAccumulator final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = StaticAccumulator;
    static constexpr std::string_view kName = "praxis.optimizers.ShardedStaticAccumulator";
    Tpl<Optimizer> optimizer_tpl;
    int64_t num_sub_batches = 1;
    bool accumulation_use_cond_op = false;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("optimizer_tpl", self.optimizer_tpl);
      visit("num_sub_batches", self.num_sub_batches, {.doc = "Steps that make one update.", .min = 1});
      visit("accumulation_use_cond_op", self.accumulation_use_cond_op);
    }
    void validate(config::Errors& errors) const;
  };
  explicit StaticAccumulator(const Config& config);
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  const int64_t num_sub_batches_;
  std::shared_ptr<Optimizer> base_;
};
extern template const config::ConfigType& config::type_of<StaticAccumulator::Config>();

}  // namespace pax
