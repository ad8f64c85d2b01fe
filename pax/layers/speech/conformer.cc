#include "pax/layers/speech/conformer.h"

#include "pax/base/error.h"
#include "pax/layers/attention/masks.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

NormPolicy policy_of(const SelfAttentionWithNormAndResidual::Config& config, const Scope& scope) {
  if (config.pre_layer_norm.has_value() == config.norm_policy.has_value()) {
    fail<ConfigError>("{}: set either pre_layer_norm or norm_policy, and the other one to null", scope.path());
  }
  if (config.norm_policy) return *config.norm_policy;
  return *config.pre_layer_norm ? NormPolicy::kPre : NormPolicy::kPostSkip;
}

/// `own`, unless one probability is set for all.
double dropout_of(const Conformer::Config& config, std::optional<double> own) {
  return config.dropout_prob ? *config.dropout_prob : own.value_or(0.0);
}

}  // namespace

SelfAttentionWithNormAndResidual::SelfAttentionWithNormAndResidual(const Config& config, const Scope& scope)
    : Layer(config, scope),
      residual_weight_(config.residual_weight),
      input_weight_(config.input_weight),
      policy_(policy_of(config, this->scope())) {
  if (policy_ == NormPolicy::kPrimerHybrid) {
    pre_norm_ = child("pre_norm", config.norm_tpl.clone_unshared());
    post_norm_ = child("post_norm", config.norm_tpl.clone_unshared());
  } else {
    norm_ = child("norm", config.norm_tpl);
  }
  self_atten_ = child("self_atten", config.self_atten_tpl);
  Tpl<Layer> dropout = config.residual_dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.residual_dropout_prob);
  residual_dropout_ = child("residual_dropout", dropout);
}

Tensor SelfAttentionWithNormAndResidual::fprop(Tensor x, Tensor paddings, Tensor mask) const {
  Tensor normed = x;
  if (policy_ == NormPolicy::kPre) normed = norm_->fprop(x);
  if (pre_norm_) normed = pre_norm_->fprop(x);

  Tensor padded = paddings_mask(paddings, normed.dtype());
  const auto* attention = dynamic_cast<const DotProductAttention*>(&*self_atten_);
  if (attention != nullptr && attention->limits_context()) padded = minimum(padded, swap_dims(padded, 2, 3));
  if (mask) padded = minimum(mask, padded);
  Tensor y =
      self_atten_->fprop({.query_btd = normed, .key_bsd = normed, .value_bsd = normed, .mask = padded}).encoded_btd;

  if (post_norm_) y = post_norm_->fprop(y);
  if (policy_ == NormPolicy::kPost) y = norm_->fprop(y);
  y = residual_dropout_->fprop(y) * residual_weight_ + x * input_weight_;
  return policy_ == NormPolicy::kPostSkip ? norm_->fprop(y) : y;
}

std::span<const std::pair<ConformerOrder, std::string_view>> enum_names(ConformerOrder) {
  static constexpr std::pair<ConformerOrder, std::string_view> kNames[] = {
      {ConformerOrder::kMhsa, "mhsa"},
      {ConformerOrder::kConv, "conv"},
      {ConformerOrder::kMhsaBeforeConv, "mhsa_before_conv"},
      {ConformerOrder::kConvBeforeMhsa, "conv_before_mhsa"}};
  return kNames;
}

Conformer::Conformer(const Config& config, const Scope& scope)
    : Layer(config, scope), order_(config.layer_order), share_fflayer_(config.fflayer_weight_sharing) {
  add_feed_forward(config);
  if (order_ != ConformerOrder::kConv) add_attention(config);
  if (order_ != ConformerOrder::kMhsa) {
    if (!config.lconv_tpl) pax::fail<ConfigError>("{}: lconv_tpl is not set, but layer_order has conv", scope.path());
    Tpl<LightConv1D> conv = config.lconv_tpl.clone();
    conv.set("input_dims", config.model_dims);
    conv.set("kernel_size", config.kernel_size);
    conv.set("dropout_prob", dropout_of(config, config.conv_residual_dropout));
    lconv_ = child("lconv", conv);
  }
  if (config.final_ln_tpl) {
    Tpl<Layer> norm = config.final_ln_tpl.clone();
    norm.set("dim", config.model_dims);
    final_ln_ = child("final_ln", norm);
  }
}

void Conformer::add_feed_forward(const Config& config) {
  const auto layer = [&](const Tpl<TransformerFfn>& tpl, int64_t input_dims) {
    Tpl<TransformerFfn> ffn = tpl.clone_unshared();
    ffn.set("activation_tpl", config.ff_activation_tpl.clone_unshared());
    ffn.set("input_dims", input_dims);
    if (input_dims != config.model_dims) ffn.set("output_dims", config.model_dims);
    ffn.set("hidden_dims", config.model_dims * config.ffn_dim_multiplier);
    ffn.set("residual_weight", config.ff_residual_weight);
    ffn.set("residual_dropout_prob", dropout_of(config, config.ffn_residual_dropout));
    ffn.set("relu_dropout_prob", dropout_of(config, config.ffn_relu_dropout));
    return ffn;
  };
  if (config.fflayer_start_tpl) {
    if (!config.input_dims) pax::fail<ConfigError>("{}: input_dims is not set", scope().path());
    fflayer_start_ = child("fflayer_start", layer(config.fflayer_start_tpl, *config.input_dims));
  }
  if (config.fflayer_weight_sharing && !config.fflayer_start_tpl) {
    pax::fail<ConfigError>("{}: fflayer_weight_sharing is true but fflayer_start_tpl is not set", scope().path());
  }
  if (config.fflayer_end_tpl && !config.fflayer_weight_sharing) {
    fflayer_end_ = child("fflayer_end", layer(config.fflayer_end_tpl, config.model_dims));
  }
}

void Conformer::add_attention(const Config& config) {
  if (!config.trans_atten_tpl) pax::fail<ConfigError>("{}: trans_atten_tpl is not set", scope().path());
  Tpl<SelfAttentionWithNormAndResidual> attention = config.trans_atten_tpl.clone();
  attention.set("residual_dropout_prob", dropout_of(config, config.atten_residual_dropout));
  attention.set("self_atten_tpl.input_dim", AttentionInputDim(config.model_dims));
  attention.set("self_atten_tpl.hidden_dim", config.model_dims);
  attention.set("self_atten_tpl.atten_dropout_prob", dropout_of(config, config.atten_dropout));
  attention.set("self_atten_tpl.num_heads", config.atten_num_heads);
  attention.set("norm_tpl.dim", config.model_dims);
  trans_atten_ = child("trans_atten", attention);
}

Tensor Conformer::fprop(Tensor x, Tensor paddings, Tensor mask) const {
  if (mask && !trans_atten_) fail("a mask is given, but there is no attention");
  if (fflayer_start_) x = fflayer_start_->fprop({.x = x, .paddings = paddings});
  if (order_ == ConformerOrder::kConvBeforeMhsa) x = lconv_->fprop(x, paddings);
  if (trans_atten_) x = trans_atten_->fprop(x, paddings, mask);
  if (lconv_ && order_ != ConformerOrder::kConvBeforeMhsa) x = lconv_->fprop(x, paddings);
  if (fflayer_end_) x = fflayer_end_->fprop({.x = x, .paddings = paddings});
  if (share_fflayer_) x = fflayer_start_->fprop({.x = x, .paddings = paddings});
  return final_ln_ ? final_ln_->fprop(x) : x;
}

template const config::ConfigType& config::type_of<SelfAttentionWithNormAndResidual::Config>();
template const config::ConfigType& config::type_of<Conformer::Config>();

}  // namespace pax
