#include "pax/layers/ssm/ssm_transformer.h"

#include "pax/base/error.h"
#include "pax/ops/elementwise.h"

namespace pax {

SSMTransformer::SSMTransformer(const Config& config, const Scope& scope)
    : SSMTransformer(config, scope, FeedForwardLayer::kOwn) {
  if (config.ssm_dim != config.input_dims) {
    pax::fail<ConfigError>("{}: ssm_dim is {} but input_dims is {}; they must be equal", scope.path(), config.ssm_dim,
                           config.input_dims);
  }
}

SSMTransformer::SSMTransformer(const Config& config, const Scope& scope, FeedForwardLayer ffn_layer)
    : TransformerLayer(config, scope), policy_(config.norm_policy) {
  if (config.use_cross_attention) {
    pax::fail<ConfigError>("{}: use_cross_attention is true; this layer does not have it", scope.path());
  }
  if (policy_ == NormPolicy::kPostSkip) {
    pax::fail<ConfigError>("{}: norm_policy is post_skip; it must be pre, post or primer_hybrid", scope.path());
  }
  Tpl<Layer> norm = config.ln_tpl.clone_unshared();
  norm.set("dim", config.input_dims);
  if (policy_ == NormPolicy::kPrimerHybrid) {
    pre_layer_norm_ = child("pre_layer_norm", norm);
    post_layer_norm_ = child("post_layer_norm", norm);
  } else {
    layer_norm_ = child("layer_norm", norm);
  }
  Tpl<Layer> dropout = config.dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.residual_dropout_prob);
  residual_dropout_ = child("residual_dropout", dropout);
  if (config.residual_droppath_prob > 0) {
    StochasticResidual::Config droppath;
    droppath.survival_prob = 1.0 - config.residual_droppath_prob;
    residual_droppath_ = child("residual_droppath", droppath);
  }
  if (ffn_layer == FeedForwardLayer::kOwn && config.tr_fflayer_tpl) {
    Tpl<TransformerFfn> ffn = config.tr_fflayer_tpl.clone();
    ffn.set("input_dims", config.input_dims);
    ffn.set("hidden_dims", config.hidden_dims);
    ffn.set("relu_dropout_prob", config.relu_dropout_prob);
    ffn.set("residual_dropout_prob", config.residual_dropout_prob);
    ffn.set("residual_droppath_prob", config.residual_droppath_prob);
    ffn.set("norm_policy", config.norm_policy);
    ff_layer_ = child("ff_layer", ffn);
  }
  Tpl<SSM> ssm = config.ssm_tpl.clone();
  ssm.set("nheads", config.ssm_nheads);
  ssm.set("dim", config.ssm_dim);
  ssm.set("l_max", config.ssm_l_max);
  ssm.set("decode_num_samples", config.decode_num_samples);
  ssm.set("hippo_type", config.ssm_hippo_type);
  ssm.set("step_size", config.ssm_step_size);
  ssm_ = child("ssm", ssm);
}

Tensor SSMTransformer::before(Tensor x) const {
  if (pre_layer_norm_) return pre_layer_norm_->fprop(x);
  return policy_ == NormPolicy::kPre ? layer_norm_->fprop(x) : x;
}

Tensor SSMTransformer::after(Tensor residual, Tensor y) const {
  if (post_layer_norm_) y = post_layer_norm_->fprop(y);
  if (policy_ == NormPolicy::kPost) y = layer_norm_->fprop(y);
  y = residual_dropout_->fprop(y);
  return residual_droppath_ ? residual_droppath_->fprop(residual, y) : residual + y;
}

TransformerOutput SSMTransformer::fprop(const TransformerInputs& inputs) const {
  const Tensor normed = before(inputs.x_btd);
  const Tensor y = after(inputs.x_btd, ssm_->fprop(normed));
  if (!ff_layer_) return {.x_btd = y};
  return {.x_btd = ff_layer_->fprop({.x = y, .paddings = inputs.paddings_bt})};
}

SSMGated::SSMGated(const Config& config, const Scope& scope) : SSMTransformer(config, scope, FeedForwardLayer::kNone) {
  const auto projection = [&](std::string_view name, int64_t from, int64_t to, const Tpl<Layer>& activation) {
    Tpl<Layer> layer = config.gss_fflayer_tpl.clone_unshared();
    layer.set("input_dims", from);
    layer.set("output_dims", to);
    layer.set("activation_tpl", activation);
    return child(name, layer);
  };
  const int64_t model = config.input_dims, wide = 3 * model;
  gss_ffn_v_ = projection("gss_ffn_v", model, wide, GELU::Config{});
  gss_ffn_u_ = projection("gss_ffn_u", model, config.ssm_dim, GELU::Config{});
  gss_ffn_uc_ = projection("gss_ffn_uc", config.ssm_dim, model, Identity::Config{});
  gss_ffn_uco_ = projection("gss_ffn_uco", model, wide, GELU::Config{});
  gss_ffn_o_ = projection("gss_ffn_o", wide, model, Identity::Config{});
}

TransformerOutput SSMGated::fprop(const TransformerInputs& inputs) const {
  const Tensor x = before(inputs.x_btd);
  const Tensor v = gss_ffn_v_->fprop(x);
  const Tensor u = gss_ffn_u_->fprop(x);
  const Tensor state = ssm_->fprop(u);
  const Tensor mixed = gss_ffn_uc_->fprop(state);
  const Tensor wide = gss_ffn_uco_->fprop(after(inputs.x_btd, mixed));
  return {.x_btd = gss_ffn_o_->fprop(wide * v)};
}

template const config::ConfigType& config::type_of<SSMTransformer::Config>();
template const config::ConfigType& config::type_of<SSMGated::Config>();

}  // namespace pax
