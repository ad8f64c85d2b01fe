#pragma once

#include "pax/layers/activations.h"
#include "pax/layers/base_ops.h"

namespace pax {

/// A product with a matrix over the last axis, whatever the matrix is made of.
class BaseLinear : public Layer {
 public:
  using Interface = BaseLinear;
  using Layer::Layer;
  /// [input_dims, output_dims], for layers that share it.
  virtual Tensor weight() const = 0;
};

/// y = x w over the last axis: [..., input_dims] -> [..., output_dims] (praxis linears.Linear).
class Linear : public BaseLinear {
 public:
  struct Config : LayerConfig {
    using Product = Linear;
    static constexpr std::string_view kName = "praxis.layers.Linear";
    static constexpr std::string_view kAliases[] = {"praxis.layers.linears.Linear"};
    static constexpr std::string_view kDoc = "Matrix product over the last axis.";
    int64_t input_dims = 0;
    int64_t output_dims = 0;
    std::optional<WeightInit> weight_init;
    Tpl<EinsumOp> einsum_tpl = EinsumOp::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Size of the input's last axis.");
      visit("output_dims", self.output_dims, "Size of the output's last axis.");
      visit("weight_init", self.weight_init, "How w begins; null: params_init.");
      visit("einsum_tpl", self.einsum_tpl, "What multiplies.");
    }
  };
  Linear(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;
  Tensor weight() const override { return w_; }

 protected:
  Tensor w_;  ///< [input_dims, output_dims]; what derives from it may add to it

 private:
  Child<EinsumOp> einsum_;
};
extern template const config::ConfigType& config::type_of<Linear::Config>();

/// x + b over the last axis (praxis linears.Bias).
class Bias final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Bias;
    static constexpr std::string_view kName = "praxis.layers.Bias";
    static constexpr std::string_view kAliases[] = {"praxis.layers.linears.Bias"};
    static constexpr std::string_view kDoc = "Adds a vector over the last axis.";
    int64_t dims = 0;
    std::optional<double> bias_init = 0.0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("dims", self.dims, "Size of the last axis.");
      visit("bias_init", self.bias_init, "The vector's first value.");
    }
  };
  Bias(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  Tensor b_;  ///< [dims]
};
extern template const config::ConfigType& config::type_of<Bias::Config>();

/// Splits of a Bias that is added to what `activation_mapping` splits as "out"; empty when that says nothing.
std::map<std::string, SplitDims> bias_split(const std::map<std::string, SplitDims>& activation_mapping);

/// Matrix product, bias, activation: [..., input_dims] -> [..., output_dims] (praxis linears.FeedForward).
class FeedForward final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = FeedForward;
    static constexpr std::string_view kName = "praxis.layers.FeedForward";
    static constexpr std::string_view kAliases[] = {"praxis.layers.linears.FeedForward"};
    static constexpr std::string_view kDoc = "Matrix product, bias, activation.";
    int64_t input_dims = 0;
    int64_t output_dims = 0;
    bool has_bias = true;
    Tpl<BaseLinear> linear_tpl = Linear::Config{};
    Tpl<Layer> bias_tpl = Bias::Config{};
    Tpl<Layer> activation_tpl = ReLU::Config{};
    std::optional<WeightInit> weight_init;
    std::optional<double> bias_init = 0.0;
    std::optional<std::string> checkpoint_str;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Size of the input's last axis.");
      visit("output_dims", self.output_dims, "Size of the output's last axis.");
      visit("has_bias", self.has_bias, "Whether there is a bias.");
      visit("linear_tpl", self.linear_tpl, "The product.");
      visit("bias_tpl", self.bias_tpl, "The bias.");
      visit("activation_tpl", self.activation_tpl, "What follows the bias.");
      visit("weight_init", self.weight_init, "How the matrix begins; null: params_init.");
      visit("bias_init", self.bias_init, "The bias's first value.");
      visit("checkpoint_str", self.checkpoint_str, "Name of the product's result for remat policies.");
    }
  };
  FeedForward(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

  const BaseLinear& linear() const { return *linear_; }

 private:
  const std::optional<std::string> checkpoint_str_;
  Child<BaseLinear> linear_;
  Child<Layer> bias_, activation_;  ///< bias_ is empty without has_bias
};
extern template const config::ConfigType& config::type_of<FeedForward::Config>();

/// `num_layers` feed-forward layers, one after the other (praxis linears.MLPBlock): the first takes
/// `ff_tpl.input_dims`, the last gives `ff_tpl.output_dims`, between them are `hidden_dims`.
class MLPBlock final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = MLPBlock;
    static constexpr std::string_view kName = "praxis.layers.MLPBlock";
    static constexpr std::string_view kAliases[] = {"praxis.layers.linears.MLPBlock"};
    static constexpr std::string_view kDoc = "Feed-forward layers, one after the other.";
    int64_t num_layers = 3;
    int64_t hidden_dims = 128;
    bool activate_final = true;
    Tpl<Layer> ff_tpl = FeedForward::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("num_layers", self.num_layers, {.doc = "Number of layers.", .min = 1});
      visit("hidden_dims", self.hidden_dims, "Width between the layers.");
      visit("activate_final", self.activate_final, "Whether the last layer has an activation.");
      visit("ff_tpl", self.ff_tpl, "One layer; its input_dims and output_dims are those of the block.");
    }
  };
  MLPBlock(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  std::vector<Child<Layer>> layers_;
};
extern template const config::ConfigType& config::type_of<MLPBlock::Config>();

}  // namespace pax
