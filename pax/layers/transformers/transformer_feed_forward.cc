#include "pax/layers/transformers/transformer_feed_forward.h"

#include <cmath>

#include "pax/base/error.h"
#include "pax/layers/split_dims.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reshape.h"

namespace pax {

TransformerFeedForward::TransformerFeedForward(const Config& config, const Scope& scope)
    : TransformerFfn(config, scope), config_(config) {
  const int64_t output_dims = config.output_dims == 0 ? config.input_dims : config.output_dims;
  if (config.add_skip_connection && output_dims != config.input_dims) {
    pax::fail<ConfigError>("{}: a skip connection needs equal input_dims {} and output_dims {}", scope.path(),
                           config.input_dims, output_dims);
  }
  auto norm = config.ln_tpl.clone_unshared();
  norm.set("dim", config.input_dims);
  if (config.norm_policy == NormPolicy::kPrimerHybrid) {
    pre_layer_norm_ = child("pre_layer_norm", norm);
    post_layer_norm_ = child("post_layer_norm", norm);
  } else {
    layer_norm_ = child("layer_norm", norm);
  }

  const Tpl<Layer> identity = Identity::Config{};
  auto first = feed_forward(config.use_gated_activation ? identity : config.activation_tpl, config.input_dims,
                            config.hidden_dims, "ffn0");
  first.try_set("checkpoint_str", "ffn1");
  ffn_layer1_ = child("ffn_layer1", first);
  if (config.use_gated_activation) {
    auto gate = feed_forward(config.activation_tpl, config.input_dims, config.hidden_dims, "ffn0");
    gate.try_set("checkpoint_str", "ffn1_gate");
    ffn_layer1_gate_ = child("ffn_layer1_gate", gate);
  }
  ffn_layer2_ = child("ffn_layer2", feed_forward(identity, config.hidden_dims, output_dims, "ffn1"));

  auto dropout = config.relu_dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.relu_dropout_prob);
  relu_dropout_ = child("relu_dropout", dropout);
  dropout = config.residual_dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.residual_dropout_prob);
  residual_dropout_ = child("residual_dropout", dropout);
  if (config.residual_droppath_prob > 0) {
    if (!config.add_skip_connection) {
      pax::fail<ConfigError>("{}: residual_droppath_prob {} needs add_skip_connection", scope.path(),
                             config.residual_droppath_prob);
    }
    StochasticResidual::Config droppath;
    droppath.survival_prob = 1.0 - config.residual_droppath_prob;
    residual_droppath_ = child("residual_droppath", droppath);
  }
}

Tpl<Layer> TransformerFeedForward::feed_forward(const Tpl<Layer>& activation, int64_t input_dims, int64_t output_dims,
                                                std::string_view split) const {
  Tpl<Layer> tpl = config_.fflayer_tpl.clone_unshared();
  tpl.set("input_dims", input_dims);
  tpl.set("output_dims", output_dims);
  tpl.set("has_bias", config_.has_bias);
  tpl.set("activation_tpl", activation.clone());
  set_weight_split(tpl, "wt", weight_split(split));
  set_activation_split(tpl, "out", activation_split(split));
  set_activation_split(tpl, "extend_step_out", activation_split(std::string(split) + "_extend_step"));
  if (config_.internal_gshard_variance_scaling_fan_in_init) {
    tpl.set("linear_tpl.params_init", WeightInit::uniform(std::sqrt(3.0 / static_cast<double>(input_dims))));
  }
  return tpl;
}

Tensor TransformerFeedForward::shard_rows(Tensor x, std::string_view name) const {
  Axes axes = activation_split(name);
  if (x.rank() == 2) {
    const Axes step = activation_split(std::string(name) + "_extend_step");
    if (step.size() == 2) {
      axes = step;
    } else if (axes.size() == 3) {
      axes = {axes[0], axes[2]};
    }
  }
  return axes.empty() ? x : sharding_constraint(x, Sharding{std::move(axes)});
}

Tensor TransformerFeedForward::hidden(Tensor x) const {
  const Tensor linear = ffn_layer1_->fprop(x);
  return shard_rows(config_.use_gated_activation ? ffn_layer1_gate_->fprop(x) * linear : linear, "ffn0");
}

Tensor TransformerFeedForward::fprop(const FeedForwardInputs& inputs) const {
  const bool primer = config_.norm_policy == NormPolicy::kPrimerHybrid;
  Tensor x = inputs.x;
  Tensor kept;  // 0 at padding
  if (inputs.paddings) kept = expand_dims(1.0 - convert(inputs.paddings, x.dtype()), -1);
  if (config_.apply_padding_first && kept) x = x * kept;
  const bool pad_inside = !config_.apply_padding_first && kept;
  const Tensor residual = x;

  if (primer) x = pre_layer_norm_->fprop(x);
  if (config_.norm_policy == NormPolicy::kPre) x = layer_norm_->fprop(x);

  Tensor h = hidden(shard_rows(x, "ffn1"));
  if (pad_inside) h = h * kept;
  const Tensor dropped = relu_dropout_->fprop(h);
  const Tensor narrow = ffn_layer2_->fprop(dropped);
  Tensor y = shard_rows(narrow, "ffn1");
  y = checkpoint_name(y, "ffn2");
  if (pad_inside) y = y * kept;

  if (primer) y = post_layer_norm_->fprop(y);
  if (config_.norm_policy == NormPolicy::kPost) y = layer_norm_->fprop(y);
  y = residual_dropout_->fprop(y);
  if (residual_droppath_) {
    y = residual_droppath_->fprop(residual, y);
  } else if (config_.add_skip_connection) {
    y = residual + (config_.residual_weight == 1.0 ? y : y * config_.residual_weight);
  }
  if (config_.norm_policy == NormPolicy::kPostSkip) y = layer_norm_->fprop(y);
  return shard_rows(y, "ffn1");
}

template const config::ConfigType& config::type_of<TransformerFeedForward::Config>();

}  // namespace pax
