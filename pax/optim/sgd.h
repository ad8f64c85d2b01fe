#pragma once

#include <optional>

#include "pax/optim/optimizer.h"

namespace pax {

/// Gradient descent, with momentum if wanted (praxis optimizers.Sgd).
class Sgd : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = Sgd;
    static constexpr std::string_view kName = "praxis.optimizers.Sgd";
    static constexpr std::string_view kAliases[] = {"praxis.optimizers.ShardedSgd"};
    std::optional<double> momentum;
    bool nesterov = false;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("momentum", self.momentum, "Decay of the sum of past gradients; null: none is kept.");
      visit("nesterov", self.nesterov);
    }
  };
  explicit Sgd(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<Sgd::Config>();

/// Layer-wise adaptive rates: each variable's step is a share of its norm (You, Gitman, Ginsburg 2017; optax.lars).
class Lars final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = Lars;
    static constexpr std::string_view kName = "praxis.optimizers.Lars";
    double weight_decay = 0.0;
    bool weight_decay_mask = true;
    double trust_coefficient = 0.001;
    double eps = 0.0;
    bool trust_ratio_mask = true;
    double momentum = 0.9;
    bool nesterov = false;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("weight_decay", self.weight_decay);
      visit("weight_decay_mask", self.weight_decay_mask, "False switches weight_decay off.");
      visit("trust_coefficient", self.trust_coefficient);
      visit("eps", self.eps);
      visit("trust_ratio_mask", self.trust_ratio_mask, "False switches the scaling by norms off.");
      visit("momentum", self.momentum);
      visit("nesterov", self.nesterov);
    }
  };
  explicit Lars(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<Lars::Config>();

/// Gradients over the root of their summed squares (Duchi, Hazan, Singer 2011; optax.adagrad).
class Adagrad : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = Adagrad;
    static constexpr std::string_view kName = "praxis.optimizers.Adagrad";
    double initial_accumulator_value = 0.1;
    double epsilon = 1e-10;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("initial_accumulator_value", self.initial_accumulator_value);
      visit("epsilon", self.epsilon, "Added to the sum of squares.");
    }
  };
  explicit Adagrad(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<Adagrad::Config>();

/// Adagrad with Praxis's other defaults.
class ShardedAdagrad final : public Adagrad {
 public:
  struct Config : Adagrad::Config {
    using Product = ShardedAdagrad;
    static constexpr std::string_view kName = "praxis.optimizers.ShardedAdagrad";
    Config() {
      initial_accumulator_value = 1e-12;
      epsilon = 1e-12;
    }
  };
  explicit ShardedAdagrad(const Config& config) : Adagrad(config) {}
};
extern template const config::ConfigType& config::type_of<ShardedAdagrad::Config>();

}  // namespace pax
