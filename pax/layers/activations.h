#pragma once

#include "pax/layers/layer.h"

namespace pax {

// Activation functions, element by element, in the type of their input (praxis activations.py).

class ReLU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = ReLU;
    static constexpr std::string_view kName = "praxis.layers.ReLU";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.ReLU"};
    static constexpr std::string_view kDoc = "max(x, 0); gradient 0 at 0.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<ReLU::Config>();

class SineReLU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = SineReLU;
    static constexpr std::string_view kName = "praxis.layers.SineReLU";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.SineReLU"};
    static constexpr std::string_view kDoc = "sin(max(x, 0)).";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<SineReLU::Config>();

class ReLU6 final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = ReLU6;
    static constexpr std::string_view kName = "praxis.layers.ReLU6";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.ReLU6"};
    static constexpr std::string_view kDoc = "min(max(x, 0), 6); gradient 0 at 0 and at 6.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<ReLU6::Config>();

class SquaredReLU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = SquaredReLU;
    static constexpr std::string_view kName = "praxis.layers.SquaredReLU";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.SquaredReLU"};
    static constexpr std::string_view kDoc = "max(x, 0)^2.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<SquaredReLU::Config>();

class CubedReLU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = CubedReLU;
    static constexpr std::string_view kName = "praxis.layers.CubedReLU";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.CubedReLU"};
    static constexpr std::string_view kDoc = "max(x, 0)^3.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<CubedReLU::Config>();

/// x above 0, `negative_slope` x elsewhere; gradient 1 at 0.
class LeakyReLU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = LeakyReLU;
    static constexpr std::string_view kName = "praxis.layers.LeakyReLU";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.LeakyReLU"};
    static constexpr std::string_view kDoc = "x above 0, negative_slope x elsewhere; gradient 1 at 0.";
    double negative_slope = 0.01;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("negative_slope", self.negative_slope, "Slope below 0.");
    }
  };
  LeakyReLU(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const double negative_slope_;
};
extern template const config::ConfigType& config::type_of<LeakyReLU::Config>();

/// Gaussian error linear unit: x Phi(x), or its approximation by tanh (Hendrycks and Gimpel 2016).
class GELU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = GELU;
    static constexpr std::string_view kName = "praxis.layers.GELU";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.GELU"};
    static constexpr std::string_view kDoc = "x times the normal distribution function of x.";
    bool approximate = true;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("approximate", self.approximate, "By tanh rather than by the error function.");
    }
  };
  GELU(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const bool approximate_;
};
extern template const config::ConfigType& config::type_of<GELU::Config>();

class ELU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = ELU;
    static constexpr std::string_view kName = "praxis.layers.ELU";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.ELU"};
    static constexpr std::string_view kDoc = "x above 0, e^x - 1 elsewhere; gradient 1 at 0.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<ELU::Config>();

class Sigmoid final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Sigmoid;
    static constexpr std::string_view kName = "praxis.layers.Sigmoid";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.Sigmoid"};
    static constexpr std::string_view kDoc = "1 / (1 + e^-x).";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<Sigmoid::Config>();

class Tanh final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Tanh;
    static constexpr std::string_view kName = "praxis.layers.Tanh";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.Tanh"};
    static constexpr std::string_view kDoc = "Hyperbolic tangent.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<Tanh::Config>();

class SiLU final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = SiLU;
    static constexpr std::string_view kName = "praxis.layers.SiLU";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.SiLU"};
    static constexpr std::string_view kDoc = "x / (1 + e^-x).";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<SiLU::Config>();

class Swish final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Swish;
    static constexpr std::string_view kName = "praxis.layers.Swish";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.Swish"};
    static constexpr std::string_view kDoc = "Another name of SiLU.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<Swish::Config>();

class Softplus final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Softplus;
    static constexpr std::string_view kName = "praxis.layers.Softplus";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.Softplus"};
    static constexpr std::string_view kDoc = "log(1 + e^x).";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<Softplus::Config>();

class Exp final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Exp;
    static constexpr std::string_view kName = "praxis.layers.Exp";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.Exp"};
    static constexpr std::string_view kDoc = "e^x.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<Exp::Config>();

class Identity final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Identity;
    static constexpr std::string_view kName = "praxis.layers.Identity";
    static constexpr std::string_view kAliases[] = {"praxis.layers.activations.Identity"};
    static constexpr std::string_view kDoc = "x itself.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<Identity::Config>();

}  // namespace pax
