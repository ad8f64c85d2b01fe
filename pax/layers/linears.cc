#include "pax/layers/linears.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"

namespace pax {

std::map<std::string, SplitDims> bias_split(const std::map<std::string, SplitDims>& activation_mapping) {
  const auto at = activation_mapping.find("out");
  if (at == activation_mapping.end() || !at->second || at->second->empty()) return {};
  return {{"wt", std::vector<DimSplit>{at->second->back()}}};
}

Linear::Linear(const Config& config, const Scope& scope)
    : BaseLinear(config, scope),
      w_(param(
          "w",
          {.shape = {config.input_dims, config.output_dims}, .init = config.weight_init, .split = weight_split("wt")})),
      einsum_(child("einsum", config.einsum_tpl)) {}

Tensor Linear::fprop(Tensor x) const {
  const Tensor y = einsum_->einsum("...y,yz->...z", x, w_);
  return shard_out(y);
}

Bias::Bias(const Config& config, const Scope& scope)
    : Layer(config, scope),
      b_(param("b", {.shape = {config.dims},
                     .init = WeightInit::constant(config.bias_init.value_or(0.0)),
                     .split = weight_split("wt")})) {}

Tensor Bias::fprop(Tensor x) const { return x + b_; }

FeedForward::FeedForward(const Config& config, const Scope& scope)
    : Layer(config, scope), checkpoint_str_(config.checkpoint_str) {
  Tpl<BaseLinear> linear = config.linear_tpl.clone();
  linear.set("input_dims", config.input_dims);
  linear.set("output_dims", config.output_dims);
  linear.set("weight_init", config.weight_init);
  linear.set("weight_split_dims_mapping", config.weight_split_dims_mapping);
  linear.set("activation_split_dims_mapping", config.activation_split_dims_mapping);
  linear_ = child("linear", linear);
  if (config.has_bias) {
    Tpl<Layer> bias = config.bias_tpl.clone();
    bias.set("dims", config.output_dims);
    bias.set("bias_init", config.bias_init);
    const auto split = bias_split(config.activation_split_dims_mapping);
    if (!split.empty()) bias.set("weight_split_dims_mapping", split);
    bias_ = child("bias", bias);
  }
  activation_ = child("activation", config.activation_tpl);
}

Tensor FeedForward::fprop(Tensor x) const {
  Tensor y = linear_->fprop(x);
  if (checkpoint_str_) y = checkpoint_name(y, *checkpoint_str_);
  if (bias_) y = bias_->fprop(y);
  return activation_->fprop(y);
}

MLPBlock::MLPBlock(const Config& config, const Scope& scope) : Layer(config, scope) {
  if (config.num_layers < 1) {
    pax::fail<ConfigError>("{}: num_layers is {}; it must be at least 1", scope.path(), config.num_layers);
  }
  for (int64_t i = 0; i < config.num_layers; ++i) {
    const bool last = i + 1 == config.num_layers;
    Tpl<Layer> layer = config.ff_tpl.clone_unshared();
    if (i != 0) layer.set("input_dims", config.hidden_dims);
    if (!last) layer.set("output_dims", config.hidden_dims);
    layer.set("weight_split_dims_mapping", config.weight_split_dims_mapping);
    layer.set("activation_split_dims_mapping", config.activation_split_dims_mapping);
    if (last && !config.activate_final) layer.set("activation_tpl", Identity::Config{});
    layers_.push_back(child(fmt::format("mlp_layers_{}", i), layer));
  }
}

Tensor MLPBlock::fprop(Tensor x) const {
  for (const Child<Layer>& layer : layers_) x = layer->fprop(x);
  return x;
}

template const config::ConfigType& config::type_of<Linear::Config>();
template const config::ConfigType& config::type_of<Bias::Config>();
template const config::ConfigType& config::type_of<FeedForward::Config>();
template const config::ConfigType& config::type_of<MLPBlock::Config>();

}  // namespace pax
