#pragma once

#include "pax/layers/normalizations.h"

namespace pax {

// Normalisations of weights: their input is a weight whose last axis is the output's.

/// Every output's weights scaled to length 1 + g (praxis normalizations.WeightNormL2; Salimans and Kingma 2016).
class WeightNormL2 final : public BaseNormalization {
 public:
  struct Config : BaseNormalization::Config {
    using Product = WeightNormL2;
    static constexpr std::string_view kName = "praxis.layers.WeightNormL2";
    static constexpr std::string_view kAliases[] = {"praxis.layers.normalizations.WeightNormL2"};
    static constexpr std::string_view kDoc = "Every output's weights scaled to a trained length.";
  };
  WeightNormL2(const Config& config, const Scope& scope);
  using BaseNormalization::fprop;
  Tensor fprop(Tensor x, Tensor paddings) const override;

 private:
  Tensor g_;  ///< [dim]
};
extern template const config::ConfigType& config::type_of<WeightNormL2::Config>();

/// The weight over its largest singular value, as a matrix [..., dim], followed by power iteration from step to step
/// (praxis normalizations.SpectralNorm; Miyato et al. 2018).
class SpectralNorm final : public BaseNormalization {
 public:
  struct Config : BaseNormalization::Config {
    using Product = SpectralNorm;
    static constexpr std::string_view kName = "praxis.layers.SpectralNorm";
    static constexpr std::string_view kAliases[] = {"praxis.layers.normalizations.SpectralNorm"};
    static constexpr std::string_view kDoc = "The weight over its largest singular value.";
    int64_t n_power_iteration = 1;
    static void fields(auto& self, auto&& visit) {
      BaseNormalization::Config::fields(self, visit);
      visit("n_power_iteration", self.n_power_iteration, {.doc = "Iterations a step.", .min = 1});
    }
  };
  SpectralNorm(const Config& config, const Scope& scope);
  using BaseNormalization::fprop;
  Tensor fprop(Tensor x, Tensor paddings) const override;

 private:
  const int64_t dim_, n_power_iteration_;
  Tensor u_;  ///< [dim], not trained
};
extern template const config::ConfigType& config::type_of<SpectralNorm::Config>();

/// x / sqrt(sum(x^2) + epsilon) over `dims`.
Tensor l2_normalize(Tensor x, std::vector<int64_t> dims, double epsilon = 1e-12);

}  // namespace pax
