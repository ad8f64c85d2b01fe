#include "pax/layers/convolutions/light_conv1d.h"

#include <algorithm>
#include <cmath>

#include "pax/base/error.h"
#include "pax/layers/split_dims.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"

namespace pax {

LightConv1D::LightConv1D(const Config& config, const Scope& scope)
    : Layer(config, scope), use_2d_conv_norm_(config.use_2d_conv_norm) {
  if (!config.input_dims || !config.kernel_size) {
    pax::fail<ConfigError>("{}: input_dims and kernel_size must both be set", scope.path());
  }
  const int64_t dims = *config.input_dims;
  const auto normalization = [&](std::string_view name, const Tpl<BaseNormalization>& tpl) {
    Tpl<BaseNormalization> norm = tpl.clone();
    norm.set("dim", dims);
    return child(name, norm);
  };
  // The two projections of the start are drawn as halves of one matrix; Praxis does so for the end too.
  const auto projection = [&](std::string_view name, const Tpl<Layer>& tpl, const Axes& wt, std::string_view out) {
    Tpl<Layer> linear = tpl.clone_unshared();
    linear.set("input_dims", dims);
    linear.set("output_dims", dims);
    linear.set("activation_tpl", Identity::Config{});
    linear.set("params_init", WeightInit::xavier(std::sqrt(1.5)));
    set_weight_split(linear, "wt", wt);
    set_activation_split(linear, "out", activation_split(out));
    return child(name, linear);
  };
  const Axes df = weight_split("df");
  ln_ = normalization("ln", config.ln_tpl);
  linear_start_act_ = projection("linear_start_act", config.linear_start_tpl, df, "blf");
  linear_start_gated_ = projection("linear_start_gated", config.linear_start_tpl, df, "blf");
  linear_end_ = projection("linear_end", config.linear_end_tpl, Axes(df.rbegin(), df.rend()), "bld");

  Tpl<BaseDepthwiseConv1D> conv = config.depthwise_conv_tpl.clone();
  conv.set("filter_shape", std::array<int64_t, 3>{*config.kernel_size, dims, 1});
  conv.set("is_causal", config.is_causal);
  set_weight_split(conv, "him", weight_split("him"));
  depthwise_conv1d_ = child("depthwise_conv1d", conv);
  conv_norm_ = normalization("conv_norm", config.conv_norm_layer_tpl);
  conv_activation_ = child("conv_activation", config.conv_activation_tpl);
  Tpl<Layer> dropout = config.dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.dropout_prob);
  dropout_ = child("dropout", dropout);
}

Tensor LightConv1D::fprop(Tensor x, Tensor paddings) const {
  const Tensor normed = ln_->fprop(x, paddings);
  const Tensor act = linear_start_act_->fprop(normed);
  const Tensor gate = linear_start_gated_->fprop(normed);
  Tensor y = depthwise_conv1d_->fprop(act * logistic(gate), paddings);
  y = shard(y, "blf");
  if (use_2d_conv_norm_) {
    y = conv_norm_->fprop(expand_dims(y, 2), paddings ? expand_dims(paddings, 2) : paddings);
    y = squeeze(y, {2});
  } else {
    y = conv_norm_->fprop(y, paddings);
  }
  y = conv_activation_->fprop(shard(y, "blf"));
  y = linear_end_->fprop(y);
  y = dropout_->fprop(y);
  return x + y;
}

template const config::ConfigType& config::type_of<LightConv1D::Config>();

}  // namespace pax
