#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// A layer that brings its input, [..., dim], to a standard scale (praxis normalizations.BaseNormalization).
class BaseNormalization : public Layer {
 public:
  using Interface = BaseNormalization;
  struct Config : LayerConfig {
    int64_t dim = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("dim", self.dim, "Size of the last axis.");
    }
  };
  using Layer::Layer;

  /// `paddings` [...] is 1 where `x` [..., dim] is padding, and may be null; those that look at one position at a time
  /// do not use it.
  virtual Tensor fprop(Tensor x, Tensor paddings) const = 0;
  Tensor fprop(Tensor x) const final { return fprop(x, {}); }
};

/// The input as it is.
class IdentityNorm final : public BaseNormalization {
 public:
  struct Config : BaseNormalization::Config {
    using Product = IdentityNorm;
    static constexpr std::string_view kName = "praxis.layers.IdentityNorm";
    static constexpr std::string_view kAliases[] = {"praxis.layers.normalizations.IdentityNorm"};
    static constexpr std::string_view kDoc = "No normalisation.";
  };
  using BaseNormalization::BaseNormalization;
  using BaseNormalization::fprop;
  Tensor fprop(Tensor x, Tensor paddings) const override;
};
extern template const config::ConfigType& config::type_of<IdentityNorm::Config>();

/// Layer normalisation over the last axis (Ba et al. 2016): (x - mean) / sqrt(variance + epsilon), then scale and bias.
class LayerNorm final : public BaseNormalization {
 public:
  struct Config : BaseNormalization::Config {
    using Product = LayerNorm;
    static constexpr std::string_view kName = "praxis.layers.LayerNorm";
    static constexpr std::string_view kAliases[] = {"praxis.layers.normalizations.LayerNorm"};
    static constexpr std::string_view kDoc = "Layer normalisation over the last axis.";
    bool direct_scale = false;
    double epsilon = 1e-6;
    bool use_scale = true;
    bool use_bias = true;
    bool reductions_in_fp32 = false;
    static void fields(auto& self, auto&& visit) {
      BaseNormalization::Config::fields(self, visit);
      visit("direct_scale", self.direct_scale, "The scale multiplies as it is (starts at 1), else as 1 + scale.");
      visit("epsilon", self.epsilon, "Added to the variance.");
      visit("use_scale", self.use_scale);
      visit("use_bias", self.use_bias);
      visit("reductions_in_fp32", self.reductions_in_fp32, "Normalises in float32, whatever the input's type.");
    }
  };
  LayerNorm(const Config& config, const Scope& scope);
  using BaseNormalization::fprop;
  Tensor fprop(Tensor x, Tensor paddings) const override;

 private:
  const Config config_;
  Tensor scale_, bias_;  ///< [dim]; null when unused
};
extern template const config::ConfigType& config::type_of<LayerNorm::Config>();

/// x / sqrt(mean(x^2) + epsilon) over the last axis, times a scale (Zhang and Sennrich 2019).
class RmsNorm final : public BaseNormalization {
 public:
  struct Config : BaseNormalization::Config {
    using Product = RmsNorm;
    static constexpr std::string_view kName = "praxis.layers.RmsNorm";
    static constexpr std::string_view kAliases[] = {"praxis.layers.normalizations.RmsNorm"};
    static constexpr std::string_view kDoc = "Normalisation by the root of the mean square over the last axis.";
    double epsilon = 1e-6;
    bool direct_scale = true;
    std::optional<DType> intermediate_dtype;
    static void fields(auto& self, auto&& visit) {
      BaseNormalization::Config::fields(self, visit);
      visit("epsilon", self.epsilon, "Added to the mean square.");
      visit("direct_scale", self.direct_scale, "The scale multiplies as it is (starts at 1), else as 1 + scale.");
      visit("intermediate_dtype", self.intermediate_dtype, "Type to normalise in; null: the input's.");
    }
  };
  RmsNorm(const Config& config, const Scope& scope);
  using BaseNormalization::fprop;
  Tensor fprop(Tensor x, Tensor paddings) const override;

 private:
  const Config config_;
  Tensor scale_;  ///< [dim]
};
extern template const config::ConfigType& config::type_of<RmsNorm::Config>();

/// RmsNorm without the scale.
class RmsNormNoScale final : public BaseNormalization {
 public:
  struct Config : BaseNormalization::Config {
    using Product = RmsNormNoScale;
    static constexpr std::string_view kName = "praxis.layers.RmsNormNoScale";
    static constexpr std::string_view kAliases[] = {"praxis.layers.normalizations.RmsNormNoScale"};
    static constexpr std::string_view kDoc = "Normalisation by the root of the mean square, without a scale.";
    double epsilon = 1e-6;
    static void fields(auto& self, auto&& visit) {
      BaseNormalization::Config::fields(self, visit);
      visit("epsilon", self.epsilon, "Added to the mean square.");
    }
  };
  RmsNormNoScale(const Config& config, const Scope& scope);
  using BaseNormalization::fprop;
  Tensor fprop(Tensor x, Tensor paddings) const override;

 private:
  const double epsilon_;
};
extern template const config::ConfigType& config::type_of<RmsNormNoScale::Config>();

}  // namespace pax
