#include "pax/layers/attention/dot_product_attention.h"

#include <cmath>

#include "pax/base/error.h"
#include "pax/layers/attention/attention_weights.h"
#include "pax/layers/attention/masks.h"
#include "pax/layers/split_dims.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reshape.h"

namespace pax {

DotProductAttention::DotProductAttention(const Config& config, const Scope& scope)
    : Attention(config, scope),
      config_(config),
      head_dim_(head_dim_of({config.dim_per_head, config.hidden_dim, config.num_heads}, scope)) {
  if (config.ngrammer_tpl) pax::fail<ConfigError>("{}: ngrammer_tpl is not supported; leave it out", scope.path());
  if (config.consolidate_rope_key_state && (!config.use_rotary_position_emb || config.dconv_qkv)) {
    pax::fail<ConfigError>("{}: consolidate_rope_key_state needs use_rotary_position_emb and no dconv_qkv",
                           scope.path());
  }
  add_projections();
  if (config.use_rotary_position_emb) {
    auto tpl = config.rotary_position_emb_tpl.clone();
    tpl.set("embedding_dims", head_dim_);
    tpl.set("cast_as_fprop_dtype", config.cast_rotary_position_emb);
    rotary_position_emb_ = child("rotary_position_emb", tpl);
  }
  if (config.relative_bias_tpl) {
    auto tpl = config.relative_bias_tpl.clone();
    tpl.set("num_heads", config.num_heads);
    relative_bias_ = child("relative_bias", tpl);
  }
  if (config.dconv_qkv) {
    auto tpl = config.causal_depthwise_conv1d_tpl.clone_unshared();
    tpl.set("kernel_size", config.dconv_kernel_size);
    tpl.set("hidden_dims", std::vector<int64_t>{config.num_heads, head_dim_});
    set_weight_split(tpl, "wt", weight_split("dconv"));
    dconv_q_ = child("dconv_q", tpl);
    dconv_k_ = child("dconv_k", tpl);
    dconv_v_ = child("dconv_v", tpl);
  }
  if (config.ln_tpl) {
    auto tpl = config.ln_tpl.clone_unshared();
    tpl.set("dim", head_dim_);
    layer_norm_q_ = child("layer_norm_q", tpl);
    layer_norm_k_ = child("layer_norm_k", tpl);
  }
  if (config.internal_enable_query_scale && config.internal_enable_per_dim_scale) {
    auto tpl = config.per_dim_scale_tpl.clone();
    tpl.set("dim", head_dim_);
    per_dim_scale_ = child("per_dim_scale", tpl);
  }
  auto dropout = config.dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.atten_dropout_prob);
  atten_dropout_ = child("atten_dropout", dropout);
  qk_einsum_ = child("qk_einsum", config.qk_einsum_tpl);
  pv_einsum_ = child("pv_einsum", config.pv_einsum_tpl);
}

Tpl<Layer> DotProductAttention::projection(int64_t input_dim, double gshard_fan_in) const {
  Tpl<Layer> tpl = config_.proj_tpl.clone_unshared();
  tpl.set("input_dim", input_dim);
  tpl.set("num_heads", config_.num_heads);
  tpl.set("dim_per_head", head_dim_);
  tpl.set("use_bias", config_.use_bias);
  if (config_.internal_gshard_gaussian_init) {
    tpl.set("params_init", WeightInit::gaussian(1.0 / std::sqrt(gshard_fan_in)));
  }
  set_weight_split(tpl, "wt", weight_split("proj"));
  return tpl;
}

void DotProductAttention::add_projections() {
  const InputDims dims = input_dims_of(config_.input_dim, scope());
  if (config_.combine_qkv) {
    if (dims.key != dims.query || dims.value != dims.query) {
      pax::fail<ConfigError>("{}: combine_qkv needs one input_dim for query {}, key {} and value {}", scope().path(),
                             dims.query, dims.key, dims.value);
    }
    auto tpl = config_.combined_qkv_proj_tpl.clone();
    tpl.set("input_dim", dims.query);
    tpl.set("num_heads", config_.num_heads);
    tpl.set("dim_per_head", head_dim_);
    tpl.set("use_bias", config_.use_bias);
    set_weight_split(tpl, "wt", weight_split("proj"));
    combined_qkv_ = child("combined_qkv", tpl);
  } else {
    key_ = child("key", projection(dims.key, static_cast<double>(dims.key)));
    query_ = child("query", projection(dims.query, static_cast<double>(dims.query * head_dim_)));
    value_ = child("value", projection(dims.value, static_cast<double>(dims.value)));
  }
  auto post = projection(dims.query, static_cast<double>(config_.num_heads * head_dim_));
  post.set("is_output_projection", true);
  post.set("use_nhd_shape", config_.output_proj_use_nhd_shape);
  const Axes proj = weight_split("proj");
  if (config_.output_proj_use_nhd_shape && proj.size() == 3) {
    set_weight_split(post, "wt", pick(proj, {1, 2, 0}, scope().path()));
  }
  post_ = child("post", post);
}

Tensor DotProductAttention::scale_query(Tensor query) const {
  if (!config_.internal_enable_query_scale) return query;
  if (per_dim_scale_) return per_dim_scale_->fprop(query);
  const int64_t dim = config_.scale_query_by_dim_per_head && config_.dim_per_head
                          ? *config_.dim_per_head
                          : config_.hidden_dim / config_.num_heads;
  return query * (1.0 / std::sqrt(static_cast<double>(dim)));
}

Tensor DotProductAttention::probabilities(Tensor logits, Tensor mask, DType dtype) const {
  return attention_weights(logits, mask, {config_.atten_logit_cap, config_.attention_extra_logit}, dtype);
}

Tensor DotProductAttention::weigh_values(std::string_view equation, Tensor probs, Tensor value) const {
  return pv_einsum_->einsum(equation, probs, value);
}

Tensor DotProductAttention::logits(Tensor query_btnh, Tensor key_bsnh) const {
  return qk_einsum_->einsum("btnh,bsnh->bnts", query_btnh, key_bsnh);
}

DotProductAttention::Context DotProductAttention::attend(const Heads& heads) const {
  const Tensor key = shard(heads.key, "blnh");
  const Tensor value = shard(heads.value, "blnh");
  Tensor scores = logits(scale_query(shard(heads.query, "blnh")), key);
  if (heads.relative_bias) scores = scores + heads.relative_bias;
  scores = checkpoint_name(scores, "logits");
  if (config_.scale_logits_by_head_dims) scores = scores * (1.0 / std::sqrt(static_cast<double>(head_dim_)));
  if (config_.attention_mask_summary) scope().add_summary("attention_mask", heads.mask);
  const Tensor probs = drop(probabilities(scores, heads.mask, key.dtype()));
  Tensor encoded = weigh_values("bnts,bsnh->btnh", probs, value);
  if (config_.zero_fully_masked) {
    const Tensor seen = sees_something(heads.mask, encoded.dtype());  // [1|B, 1, 1|T]
    encoded = encoded * expand_dims(expand_dims(squeeze(seen, {1}), -1), -1);
  }
  encoded = checkpoint_name(encoded, "context");
  return {.encoded = shard(encoded, "blnh"), .probs = probs};
}

DotProductAttention::Heads DotProductAttention::project(const AttentionInputs& inputs) const {
  Heads heads{.mask = inputs.mask};
  if (config_.combine_qkv) {
    if (inputs.key_bsd != inputs.query_btd || inputs.value_bsd != inputs.query_btd) {
      fail("combine_qkv works for self-attention only: query, key and value must be one input");
    }
    const CombinedQKVProjectionLayer::Heads all = combined_qkv_->project(inputs.query_btd);
    heads.query = all.query;
    heads.key = all.key;
    heads.value = all.value;
  } else {
    heads.query = checkpoint_name(query_->fprop(inputs.query_btd), "query_proj");
    heads.key = checkpoint_name(key_->fprop(inputs.key_bsd), "key_proj");
    heads.value = checkpoint_name(value_->fprop(inputs.value_bsd), "value_proj");
  }
  if (!config_.consolidate_rope_key_state) keep(inputs.cache, "key_state", heads.key);
  keep(inputs.cache, "value_state", heads.value);

  if (config_.dconv_qkv) {
    keep(inputs.cache, "query_state", heads.query);
    heads.query = dconv_q_->convolve(heads.query, {.segment_pos = inputs.query_segment_pos});
    heads.key = dconv_k_->convolve(heads.key, {.segment_pos = inputs.key_segment_pos});
    keep(inputs.cache, "key_post_dconv", heads.key);
    heads.value = dconv_v_->convolve(heads.value, {.segment_pos = inputs.key_segment_pos});
    keep(inputs.cache, "value_post_dconv", heads.value);
  }
  if (config_.use_rotary_position_emb) {
    heads.query = rotary_position_emb_->fprop(heads.query, inputs.query_segment_pos);
    heads.key = rotary_position_emb_->fprop(heads.key, inputs.key_segment_pos);
    keep(inputs.cache, config_.consolidate_rope_key_state ? "key_state" : "key_post_rotary_pos_emb", heads.key);
  }
  if (relative_bias_) {
    const auto positions = [&](Tensor given, Tensor of) {
      return given ? given : iota(graph(), {DType::kS32, {of.dim(0), of.dim(1)}}, 1);
    };
    heads.relative_bias = relative_bias_->bias(positions(inputs.query_segment_pos, inputs.query_btd),
                                               positions(inputs.key_segment_pos, inputs.key_bsd));
  }
  if (layer_norm_q_) {
    heads.query = layer_norm_q_->fprop(heads.query);
    heads.key = layer_norm_k_->fprop(heads.key);
  }
  return heads;
}

AttentionOutput DotProductAttention::fprop(const AttentionInputs& inputs) const {
  const Context context = attend(project(inputs));
  const Tensor out = shard(post_->fprop(context.encoded), "bld");
  return {.encoded_btd = checkpoint_name(out, "out_proj"), .probs = context.probs};
}

template const config::ConfigType& config::type_of<DotProductAttention::Config>();

}  // namespace pax
