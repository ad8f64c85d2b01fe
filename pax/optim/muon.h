#pragma once

#include <array>

#include "pax/optim/optimizer.h"

namespace pax {

/// Momentum made orthogonal for matrices, Adam for vectors and scalars (Jordan et al. 2024; optax.contrib.muon with
/// MaxText's defaults). Variables with more than two dimensions are matrices of the first ones by the last.
class Muon final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = Muon;
    static constexpr std::string_view kName = "pax.optimizers.Muon";
    std::array<double, 3> ns_coeffs{3.4445, -4.7750, 2.0315};
    int64_t ns_steps = 5;
    double beta = 0.95;
    double eps = 1e-8;
    double weight_decay = 0.0;
    bool nesterov = true;
    std::optional<double> consistent_rms;
    double adam_b1 = 0.9;
    double adam_b2 = 0.999;
    double adam_eps_root = 0.0;
    double adam_weight_decay = 0.0;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("ns_coeffs", self.ns_coeffs, "a, b, c of x <- a x + b (x x^T) x + c (x x^T)^2 x.");
      visit("ns_steps", self.ns_steps, {.doc = "Iterations that make momentum orthogonal.", .min = 1, .max = 100});
      visit("beta", self.beta, {.doc = "Decay of momentum.", .min = 0, .max = 1});
      visit("eps", self.eps, "Added to norms.");
      visit("weight_decay", self.weight_decay, "Adds weight_decay * w to the update, before the learning rate.");
      visit("nesterov", self.nesterov);
      visit("consistent_rms", self.consistent_rms,
            "Scale updates by this times sqrt(max(rows, columns)); null: by sqrt(max(1, columns / rows)).");
      visit("adam_b1", self.adam_b1);
      visit("adam_b2", self.adam_b2);
      visit("adam_eps_root", self.adam_eps_root);
      visit("adam_weight_decay", self.adam_weight_decay, "As weight_decay, for vectors and scalars.");
    }
  };
  explicit Muon(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<Muon::Config>();

}  // namespace pax
