#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// Sets elements to zero at random in training and scales the others up, so that the mean stays
/// (praxis stochastics.Dropout).
class Dropout final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Dropout;
    static constexpr std::string_view kName = "praxis.layers.Dropout";
    static constexpr std::string_view kAliases[] = {"praxis.layers.stochastics.Dropout"};
    static constexpr std::string_view kDoc = "Sets elements to zero at random in training.";
    double keep_prob = 1.0;
    std::optional<std::vector<int64_t>> noise_shape;
    std::optional<std::vector<int64_t>> noise_shape_broadcast_dims;
    bool dropout_at_eval = false;
    std::optional<bool> transpose_qk = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("keep_prob", self.keep_prob, {.doc = "Share of elements that stay.", .min = 0.0, .max = 1.0});
      visit("noise_shape", self.noise_shape, "Shape of the draw, which broadcasts; null: the input's.");
      visit("noise_shape_broadcast_dims", self.noise_shape_broadcast_dims, "Dimensions along which one draw counts.");
      visit("dropout_at_eval", self.dropout_at_eval, "Also outside of training.");
      visit("transpose_qk", self.transpose_qk, "Draws a square [.., T, S] transposed.");
    }
  };
  Dropout(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const Config config_;
  mutable int64_t draws_ = 0;  ///< Calls so far in this trace: each draws anew.
};
extern template const config::ConfigType& config::type_of<Dropout::Config>();

/// inputs + residual_weight * residual, where in training whole rows of the residual are left out at random
/// (praxis stochastics.StochasticResidual; Huang et al. 2016).
class StochasticResidual final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = StochasticResidual;
    static constexpr std::string_view kName = "praxis.layers.StochasticResidual";
    static constexpr std::string_view kAliases[] = {"praxis.layers.stochastics.StochasticResidual"};
    static constexpr std::string_view kDoc = "Adds a residual that rows leave out at random in training.";
    double residual_weight = 1.0;
    double survival_prob = 1.0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("residual_weight", self.residual_weight, "What the residual is multiplied by.");
      visit("survival_prob", self.survival_prob, {.doc = "Share of rows that keep it.", .min = 0.0, .max = 1.0});
    }
  };
  StochasticResidual(const Config& config, const Scope& scope);
  using Layer::fprop;
  /// Both [B, ...].
  Tensor fprop(Tensor inputs, Tensor residual) const;

 private:
  const double residual_weight_, survival_prob_;
  mutable int64_t draws_ = 0;
};
extern template const config::ConfigType& config::type_of<StochasticResidual::Config>();

}  // namespace pax
