#pragma once

#include "pax/optim/optimizer.h"

namespace pax {

/// Adam (praxis optimizers.Adam). Sharded form: bias correction folded into the decays, infinities made NaN, the rms of
/// each variable's update capped at `clip_threshold`. Otherwise optax.adam.
class Adam final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = Adam;
    static constexpr std::string_view kName = "praxis.optimizers.Adam";
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-6;
    double epsilon_root = 0.0;
    double clip_threshold = 1.0;
    double weight_decay = 0.0;
    bool sharded_adam = true;
    bool maybe_inf_to_nan = true;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("beta1", self.beta1, {.doc = "Decay of the mean of gradients.", .min = 0, .max = 1});
      visit("beta2", self.beta2, {.doc = "Decay of the mean of squares.", .min = 0, .max = 1});
      visit("epsilon", self.epsilon, "Added to the root.");
      visit("epsilon_root", self.epsilon_root, "Added below the root.");
      visit("clip_threshold", self.clip_threshold, "Largest rms of a variable's update; 0: no bound.");
      visit("weight_decay", self.weight_decay, "Adds weight_decay * w to the update, before the learning rate.");
      visit("sharded_adam", self.sharded_adam, "False: optax.adam.");
      visit("maybe_inf_to_nan", self.maybe_inf_to_nan);
    }
  };
  explicit Adam(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

  /// Presets of Praxis.
  static Config hparams_a();
  static Config hparams_b();

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<Adam::Config>();

/// The sign of blended momentum (Chen et al. 2023; praxis optimizers.Lion). Momentum in bfloat16 by default.
class Lion final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = Lion;
    static constexpr std::string_view kName = "praxis.optimizers.Lion";
    double beta1 = 0.9;
    double beta2 = 0.99;
    double clip_threshold = 1.0;
    double weight_decay = 0.0;
    DType m_dtype = DType::kBF16;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("beta1", self.beta1, {.doc = "Share of momentum in the update.", .min = 0, .max = 1});
      visit("beta2", self.beta2, {.doc = "Decay of momentum.", .min = 0, .max = 1});
      visit("clip_threshold", self.clip_threshold, "Largest rms of a variable's update; 0: no bound.");
      visit("weight_decay", self.weight_decay, "Adds weight_decay * w to the update, before the learning rate.");
      visit("m_dtype", self.m_dtype, "Element type in which momentum is kept.");
    }
  };
  explicit Lion(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<Lion::Config>();

/// Adam's update scaled to each variable's norm (You et al. 2019; optax.lamb).
class Lamb final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = Lamb;
    static constexpr std::string_view kName = "praxis.optimizers.Lamb";
    double b1 = 0.9;
    double b2 = 0.999;
    double eps = 1e-6;
    double eps_root = 0.0;
    double weight_decay = 0.0;
    std::optional<bool> mask;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("b1", self.b1, {.doc = "Decay of the mean of gradients.", .min = 0, .max = 1});
      visit("b2", self.b2, {.doc = "Decay of the mean of squares.", .min = 0, .max = 1});
      visit("eps", self.eps, "Added to the root.");
      visit("eps_root", self.eps_root, "Added below the root.");
      visit("weight_decay", self.weight_decay);
      visit("mask", self.mask, "False switches weight_decay off.");
    }
  };
  explicit Lamb(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<Lamb::Config>();

}  // namespace pax
