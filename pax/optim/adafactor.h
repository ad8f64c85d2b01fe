#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pax/optim/optimizer.h"

namespace pax {

/// Second moments as outer products of row and column means (Shazeer and Stern 2018), as optax.adafactor does it.
class Adafactor final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = Adafactor;
    static constexpr std::string_view kName = "praxis.optimizers.Adafactor";
    int64_t min_dim_size_to_factor = 128;
    double decay_rate = 0.8;
    int64_t decay_offset = 0;
    bool multiply_by_parameter_scale = true;
    std::optional<double> clip_threshold = 1.0;
    std::optional<double> momentum;
    DType dtype_momentum = DType::kF32;
    std::optional<double> weight_decay_rate;
    double eps = 1e-30;
    bool factored = true;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("min_dim_size_to_factor", self.min_dim_size_to_factor,
            "Only variables whose two largest dimensions have at least this size are factored.");
      visit("decay_rate", self.decay_rate, "Exponent of the second moments' decay: 1 - t^-decay_rate.");
      visit("decay_offset", self.decay_offset, "Update at which that decay begins.");
      visit("multiply_by_parameter_scale", self.multiply_by_parameter_scale, "Scale updates by the variable's rms.");
      visit("clip_threshold", self.clip_threshold, "Largest rms of a variable's update; null: no bound.");
      visit("momentum", self.momentum, "Decay of the mean of updates; null: none is kept.");
      visit("dtype_momentum", self.dtype_momentum);
      visit("weight_decay_rate", self.weight_decay_rate);
      visit("eps", self.eps, "Added to squared gradients.");
      visit("factored", self.factored);
    }
  };
  explicit Adafactor(const Config& config) : Optimizer(config), config_(config) {}
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<Adafactor::Config>();

/// Praxis's own Adafactor: the last two dimensions factored whatever their size, momentum of the scaled update kept in
/// int8, int16, bfloat16 or float32 (integers have one scale for each column along the first dimension).
class ShardedAdafactor final : public Optimizer {
 public:
  struct Config : OptimizerConfig {
    using Product = ShardedAdafactor;
    static constexpr std::string_view kName = "praxis.optimizers.ShardedAdafactor";
    std::optional<std::variant<double, std::map<std::string, double>>> weight_decay;
    bool layerwise_adaptation = false;
    std::optional<std::vector<std::string>> exclude_from_layerwise_adaptation;
    std::string decay_method;
    double decay_adam = 0.0;
    double decay_pow = 0.0;
    double beta1 = 0.0;
    std::optional<double> clip_threshold = 1.0;
    bool factored = true;
    double epsilon1_grad_sq_reg = 1e-30;
    DType quantized_dtype = DType::kS8;
    bool respect_skip_lp_regularization = false;
    bool per_var_learning_summary = false;
    bool sort_factored_second_moment_dims = false;
    int64_t min_dim_size_to_factor = 128;
    bool multiply_by_parameter_scale = false;
    double epsilon2_param_scale_reg = 1e-3;
    bool maybe_inf_to_nan = true;
    std::string name;
    static void fields(auto& self, auto&& visit) {
      OptimizerConfig::fields(self, visit);
      visit("weight_decay", self.weight_decay, "One rate, or rates by pattern of variable names.");
      visit("layerwise_adaptation", self.layerwise_adaptation, "Scale updates to the variable's rms (LAMB).");
      visit("exclude_from_layerwise_adaptation", self.exclude_from_layerwise_adaptation);
      visit("decay_method", self.decay_method, "How second moments decay: adam or pow.");
      visit("decay_adam", self.decay_adam);
      visit("decay_pow", self.decay_pow);
      visit("beta1", self.beta1, {.doc = "Decay of momentum; 0: none is kept.", .min = 0, .max = 1});
      visit("clip_threshold", self.clip_threshold, "Largest rms of a variable's update; null: no bound.");
      visit("factored", self.factored);
      visit("epsilon1_grad_sq_reg", self.epsilon1_grad_sq_reg, "Added to squared gradients.");
      visit("quantized_dtype", self.quantized_dtype, "In which momentum is kept.");
      visit("respect_skip_lp_regularization", self.respect_skip_lp_regularization);
      visit("per_var_learning_summary", self.per_var_learning_summary);
      visit("sort_factored_second_moment_dims", self.sort_factored_second_moment_dims,
            "Factor the two largest dimensions instead of the last two.");
      visit("min_dim_size_to_factor", self.min_dim_size_to_factor,
            "With sort_factored_second_moment_dims: smaller dimensions are not factored.");
      visit("multiply_by_parameter_scale", self.multiply_by_parameter_scale);
      visit("epsilon2_param_scale_reg", self.epsilon2_param_scale_reg, "Smallest scale of a variable.");
      visit("maybe_inf_to_nan", self.maybe_inf_to_nan);
      visit("name", self.name);
    }
    void validate(config::Errors& errors) const;
  };
  explicit ShardedAdafactor(const Config& config);
  std::vector<Slot> raw_slots(const Leaf& leaf) const override;
  LeafUpdate raw_update(const LeafStep& step) const override;

  /// Preset of Praxis.
  static Config hparams_adam_b();

 private:
  struct Factored {
    int64_t row, col;  ///< the variable's own dimensions over which row and column means are taken
  };
  std::optional<Factored> factored_dims(const Leaf& leaf) const;
  bool quantizes(const Leaf& leaf) const;
  Tensor sound(Tensor x) const;
  Tensor decay_rate(Tensor count) const;
  Tensor scaled_gradient(const LeafStep& step, LeafUpdate& out) const;
  Tensor with_momentum(const LeafStep& step, Tensor x, LeafUpdate& out) const;
  std::optional<double> weight_decay_of(const Leaf& leaf) const;
  bool adapts(const Leaf& leaf) const;

  const Config config_;
};
extern template const config::ConfigType& config::type_of<ShardedAdafactor::Config>();

}  // namespace pax
