#pragma once

#include "pax/optim/optimizer.h"

namespace pax {

/// Whose step length Shampoo's direction takes over.
enum class Grafting : uint8_t { kNone, kSgd, kAdagrad, kRmsprop, kRmspropNormalized, kSqrtN, kAdagradNormalized };

/// Shampoo (Gupta, Koren, Singer 2018; Anil et al. 2020): gradients multiplied on every dimension by an inverse root of
/// their second moments, in blocks, with the step length of a simpler method (praxis optimizers.DistributedShampoo).
class DistributedShampoo final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = DistributedShampoo;
    static constexpr std::string_view kName = "praxis.optimizers.DistributedShampoo";
    static constexpr std::string_view kAliases[] = {"praxis.optimizers.ShardedDistributedShampoo"};
    int64_t block_size = 1024;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double diagonal_epsilon = 1e-16;
    double matrix_epsilon = 1e-6;
    double weight_decay = 0.0;
    int64_t start_preconditioning_step = 101;
    int64_t preconditioning_compute_steps = 100;
    int64_t statistics_compute_steps = 1;
    int64_t graft_type = 2;
    bool nesterov = true;
    int64_t exponent_override = 0;
    double inverse_failure_threshold = 0.1;
    bool moving_average_for_momentum = false;
    int64_t skip_preconditioning_dim_size_gt = 4096;
    std::optional<double> clip_by_scaled_gradient_norm;
    bool best_effort_shape_interpretation = true;
    bool relative_matrix_epsilon = true;
    int64_t merge_small_dims_block_size = 4096;
    int64_t skip_preconditioning_rank_lt = 1;
    bool decoupled_weight_decay_from_momentum = true;
    bool decoupled_learning_rate_from_momentum = false;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("block_size", self.block_size, {.doc = "Largest side of a preconditioner.", .min = 1});
      visit("beta1", self.beta1, {.doc = "Decay of momentum.", .min = 0, .max = 1});
      visit("beta2", self.beta2, {.doc = "Decay of second moments; 1: their sum.", .min = 0, .max = 1});
      visit("diagonal_epsilon", self.diagonal_epsilon, "Added to the root in grafting.");
      visit("matrix_epsilon", self.matrix_epsilon, "Added to the diagonal before the root.");
      visit("weight_decay", self.weight_decay);
      visit("start_preconditioning_step", self.start_preconditioning_step, "Before it the grafted method steps.");
      visit("preconditioning_compute_steps", self.preconditioning_compute_steps,
            {.doc = "Updates between inverse roots.", .min = 1});
      visit("statistics_compute_steps", self.statistics_compute_steps,
            {.doc = "Updates between second moments.", .min = 1});
      visit("graft_type", self.graft_type,
            {.doc = "0 none, 1 SGD, 2 Adagrad, 3 RMSprop, 4 RMSprop normalized, 5 sign, 6 Adagrad normalized.",
             .min = 0,
             .max = 6});
      visit("nesterov", self.nesterov);
      visit("exponent_override", self.exponent_override, "Order of the root; 0: twice the rank.");
      visit("inverse_failure_threshold", self.inverse_failure_threshold);
      visit("moving_average_for_momentum", self.moving_average_for_momentum);
      visit("skip_preconditioning_dim_size_gt", self.skip_preconditioning_dim_size_gt,
            "Variables with a larger dimension are left to the grafted method.");
      visit("clip_by_scaled_gradient_norm", self.clip_by_scaled_gradient_norm);
      visit("best_effort_shape_interpretation", self.best_effort_shape_interpretation, "Merge small dimensions.");
      visit("relative_matrix_epsilon", self.relative_matrix_epsilon);
      visit("merge_small_dims_block_size", self.merge_small_dims_block_size);
      visit("skip_preconditioning_rank_lt", self.skip_preconditioning_rank_lt);
      visit("decoupled_weight_decay_from_momentum", self.decoupled_weight_decay_from_momentum);
      visit("decoupled_learning_rate_from_momentum", self.decoupled_learning_rate_from_momentum);
    }
  };
  explicit DistributedShampoo(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  /// A part of the variable, in its merged shape.
  struct Block {
    std::vector<int64_t> starts, sizes;
  };
  bool preconditions(const Leaf& leaf) const;
  Shape merged_shape(const Leaf& leaf) const;
  std::vector<Block> blocks(const Leaf& leaf) const;
  int64_t root_order(const Leaf& leaf) const;
  Tensor grafted(const LeafStep& step, LeafUpdate& out) const;
  Tensor preconditioned(const LeafStep& step, LeafUpdate& out) const;

  const Config config_;
};
extern template const config::ConfigType& config::type_of<DistributedShampoo::Config>();

}  // namespace pax
