#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pax/array/tree.h"
#include "pax/config/config.h"
#include "pax/ir/sharding.h"
#include "pax/optim/schedule.h"
#include "pax/params/param_spec.h"

namespace pax {

/// One variable as an optimizer sees it.
struct Leaf {
  std::string name;  ///< `params/lm/…`, what patterns in configs are matched with
  TensorType type;
  std::vector<std::vector<std::string>> split;  ///< one list of mesh axes a dimension
  /// So many leading dimensions only stack variables of equal layers: each is treated on its own.
  int64_t num_prefix = 0;
  bool skip_lp_regularization = false;

  int64_t rank() const { return type.shape.rank() - num_prefix; }
  /// The dimensions of one variable, counted in the stacked shape.
  std::vector<int64_t> own_dims() const;
};

/// An array that an optimizer keeps for one variable.
struct Slot {
  std::string name;  ///< `raw/m`; `ema`
  TensorType type;
  std::vector<std::vector<std::string>> split;
  double init = 0;
  bool init_from_weight = false;  ///< starts as a copy of the weight instead
};

/// What an optimizer computes an update from.
struct LeafStep {
  const Leaf& leaf;
  Tensor grad;
  Tensor weight;                                      ///< before the update
  Tensor count;                                       ///< i32 scalar: updates made before this one
  Tensor learning_rate;                               ///< f32 scalar at `count`
  std::vector<std::pair<std::string, Tensor>> slots;  ///< by Slot::name

  Tensor slot(std::string_view name) const;
};

/// What comes of it: `update` is added to the weight (it carries the minus sign).
struct LeafUpdate {
  Tensor update;
  std::vector<std::pair<std::string, Tensor>> slots;  ///< their next values, in the slots' types
};

/// Members that every optimizer's config has (praxis optimizers.BaseOptimizer).
struct OptimizerConfig {
  std::optional<double> l2_regularizer_weight;
  std::optional<double> l1_regularizer_weight;
  bool skip_lp_1d_vectors = false;
  std::optional<double> decoupled_weight_decay;
  double clip_gradient_norm_to_value = 0.0;
  double clip_gradient_single_norm_to_value = 0.0;
  double learning_rate = 0.0;
  Tpl<Schedule> lr_schedule;
  double ema_decay = 0.0;
  double ewc_regularizer_weight = 0.0;
  std::optional<std::map<std::string, double>> ewc_weight_per_var;
  static void fields(auto& self, auto&& visit) {
    visit("l2_regularizer_weight", self.l2_regularizer_weight, "Adds weight * w to the gradient.");
    visit("l1_regularizer_weight", self.l1_regularizer_weight, "Adds weight * sign(w) to the gradient.");
    visit("skip_lp_1d_vectors", self.skip_lp_1d_vectors, "L1 and L2 leave vectors and scalars alone.");
    visit("decoupled_weight_decay", self.decoupled_weight_decay, "Subtracts learning rate * weight * w.");
    visit("clip_gradient_norm_to_value", self.clip_gradient_norm_to_value,
          {.doc = "Largest norm of all gradients together; 0: no bound.", .min = 0});
    visit("clip_gradient_single_norm_to_value", self.clip_gradient_single_norm_to_value,
          {.doc = "Largest norm of each variable's gradient; 0: no bound.", .min = 0});
    visit("learning_rate", self.learning_rate, "Multiplies lr_schedule.");
    visit("lr_schedule", self.lr_schedule);
    visit("ema_decay", self.ema_decay, {.doc = "Of the moving average of the weights; 0: none.", .max = 1});
    visit("ewc_regularizer_weight", self.ewc_regularizer_weight,
          "Elastic weight consolidation: pulls weights to their first values.");
    visit("ewc_weight_per_var", self.ewc_weight_per_var);
  }
  void validate(config::Errors& errors) const;
};

/// An optimizer of one variable. What all share goes around what each does: L1, L2, `raw_update`, decoupled decay,
/// elastic weight consolidation, moving average, in this order (praxis optimizers.py).
class Optimizer {
 public:
  using Kind = Optimizer;

  explicit Optimizer(const OptimizerConfig& config);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  const OptimizerConfig& shared_config() const { return config_; }
  /// learning_rate times lr_schedule: f32 scalar. Throws ConfigError when there is no schedule.
  Tensor learning_rate(Tensor count) const;
  double learning_rate_at(int64_t count) const;

  /// What is kept for `leaf`, without the moving average, which is the Learner's.
  std::vector<Slot> slots(const Leaf& leaf) const;
  LeafUpdate update(const LeafStep& step) const;

  /// The optimizer proper, without what surrounds it. Slot names begin with `raw/`.
  virtual std::vector<Slot> raw_slots(const Leaf& leaf) const = 0;
  virtual LeafUpdate raw_update(const LeafStep& step) const = 0;

 private:
  const Schedule& schedule() const;

  OptimizerConfig config_;
  std::shared_ptr<Schedule> schedule_;
};

}  // namespace pax
