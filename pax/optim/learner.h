#pragma once

#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "pax/array/tree.h"
#include "pax/base/pattern.h"
#include "pax/optim/optimizer.h"
#include "pax/params/scope.h"

namespace pax {

/// An array of the training state that a learner keeps beside the weights.
struct StateSpec {
  std::string name;  ///< `opt_states_0/count`, `opt_states_0/raw/m/params/lm/…`, `opt_states_0/ema/params/lm/…`
  TensorType type;
  Sharding sharding;
  double init = 0;        ///< its first value, everywhere
  std::string init_from;  ///< or, when not empty, a copy of the variable of that Param::state_name()
};

/// The first value of `spec`. `weights`: first values by Param::state_name().
Tensor first_value(const StateSpec& spec, Graph& graph, const Tree<Tensor>& weights);

/// What one update gives.
struct LearnerResult {
  Tree<Tensor> weights;  ///< by Param::state_name(): those that were trained
  Tree<Tensor> updates;  ///< by Param::state_name(): what was added to them
  Tree<Tensor> states;   ///< by StateSpec::name: all of them
  /// f32 scalars under Pax's summary names: `learning/lr`, `learning/raw_grad_norm`, `learning/clipped_grad_norm`,
  /// `learning/is_valid_step`, `learning/grad_scale`, `learning/applied_grad_norm`, `learning/var_norm`, …
  Tree<Tensor> metrics;
};

/// Gradients after clipping, and whether the step may be taken.
struct ScaledGradients {
  Tree<Tensor> grads;
  Tensor valid_step;  ///< bool scalar; null when check_valid_step is off: valid
};

/// One regular expression or several; a variable counts when one of them matches its whole name (`params/lm/…`).
using VariablePatterns = std::variant<std::vector<std::string>, std::string>;

/// Turns gradients into new weights (paxml learners.Learner): checks and clips the gradients, maps the optimizer over
/// the variables, and leaves all as it was, counts included, in a step that must be skipped.
/// Variables of repeated layers are treated layer by layer (ParamSpec::repeat_prefix).
class Learner {
 public:
  using Kind = Learner;
  struct Config {
    using Product = Learner;
    static constexpr std::string_view kName = "paxml.learners.Learner";
    static constexpr std::string_view kDoc = "Gradients to weights: clipping, skipping, one optimizer.";
    std::string name = "learner";
    Tpl<Optimizer> optimizer;
    std::optional<std::string> loss_name;
    config::Value stochastic_gradient;
    std::optional<bool> skip_zero_gradients;
    bool grad_norm_summary = true;
    bool grad_norm_individual_vars = false;
    bool var_norm_summary = true;
    bool var_norm_individual_vars = false;
    bool check_valid_step = true;
    bool vectorize_on_repeat_prefix = true;
    bool force_repeat_prefix_structure = false;
    double skip_step_gradient_norm_value = 0.0;
    bool enable_skip_step_on_gradient_anomalies = true;
    VariablePatterns bprop_variable_exclusion;
    VariablePatterns bprop_variable_inclusion;
    std::string repeat_prefix_sep = "#";
    bool keep_optimizer_state_for_excluded_vars = false;
    bool scale_update_by_var_norm = false;
    static void fields(auto& self, auto&& visit) {
      visit("name", self.name);
      visit("optimizer", self.optimizer);
      visit("loss_name", self.loss_name, "Name of the metric that is minimised.");
      visit("stochastic_gradient", self.stochastic_gradient);
      visit("skip_zero_gradients", self.skip_zero_gradients);
      visit("grad_norm_summary", self.grad_norm_summary);
      visit("grad_norm_individual_vars", self.grad_norm_individual_vars);
      visit("var_norm_summary", self.var_norm_summary);
      visit("var_norm_individual_vars", self.var_norm_individual_vars);
      visit("check_valid_step", self.check_valid_step, "Find gradients that are not finite or too large.");
      visit("vectorize_on_repeat_prefix", self.vectorize_on_repeat_prefix, "Treat stacked layers one by one.");
      visit("force_repeat_prefix_structure", self.force_repeat_prefix_structure);
      visit("skip_step_gradient_norm_value", self.skip_step_gradient_norm_value,
            {.doc = "Steps whose gradients have this norm or more are skipped; 0: none.", .min = 0});
      visit("enable_skip_step_on_gradient_anomalies", self.enable_skip_step_on_gradient_anomalies);
      visit("bprop_variable_exclusion", self.bprop_variable_exclusion, "Variables that stay as they are.");
      visit("bprop_variable_inclusion", self.bprop_variable_inclusion, "The only variables that are trained.");
      visit("repeat_prefix_sep", self.repeat_prefix_sep);
      visit("keep_optimizer_state_for_excluded_vars", self.keep_optimizer_state_for_excluded_vars);
      visit("scale_update_by_var_norm", self.scale_update_by_var_norm);
    }
    void validate(config::Errors& errors) const;
  };

  explicit Learner(const Config& config);
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  const Config& config() const { return config_; }

  /// The variables that need a gradient, in order of declaration.
  std::vector<const Param*> trained(const std::deque<Param>& params) const;

  /// What the training state must hold for these variables, in a fixed order.
  std::vector<StateSpec> state_specs(const std::deque<Param>& params) const;

  /// Traces one update where the graph is being written. `grads`: by Param::state_name(), one for each of `trained`.
  /// `states`: by StateSpec::name, one for each of `state_specs`. Weights are each Param's `value`.
  /// Throws ShapeError naming what is missing.
  LearnerResult apply(const std::deque<Param>& params, const Tree<Tensor>& grads, const Tree<Tensor>& states) const;

  /// The first half of `apply`: norms into `metrics`, clipping, validity.
  virtual ScaledGradients scale_gradients(const Tree<Tensor>& grads, Tree<Tensor>& metrics) const;

  /// The learning rate at update `count`, on the host.
  double learning_rate_at(int64_t count) const;

  /// Name in the training state of the moving average of `param`; empty when the learner keeps none.
  std::string ema_name(const Param& param) const;

 protected:
  /// Which optimizer updates the variable of that state name.
  virtual const Optimizer& optimizer_of(std::string_view variable) const;
  /// `learning/lr`, or one rate for each optimizer.
  virtual void add_learning_rates(Tensor count, Tree<Tensor>& metrics) const;

  const Optimizer& optimizer() const { return *optimizer_; }
  /// Clips as `config` says. Metric names begin with `learning/` and `prefix`.
  ScaledGradients scale(const Tree<Tensor>& grads, const OptimizerConfig& config, const std::string& prefix,
                        Tree<Tensor>& metrics) const;

 private:
  bool trains(const Param& param) const;
  bool averages(const Param& param) const;
  Leaf leaf_of(const Param& param) const;
  Tensor moved(const Param& param, Tensor change) const;
  std::vector<const Param*> optimized(const std::deque<Param>& params) const;

  Config config_;
  std::shared_ptr<Optimizer> optimizer_;
  std::vector<Pattern> excluded_, included_;
};
extern template const config::ConfigType& config::type_of<Learner::Config>();

}  // namespace pax
