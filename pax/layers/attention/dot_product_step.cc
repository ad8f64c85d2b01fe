#include <cmath>

#include "pax/layers/attention/dot_product_attention.h"
#include "pax/layers/attention/masks.h"
#include "pax/layers/split_dims.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reshape.h"

// One step of decoding, against what earlier steps left in the cache.

namespace pax {

Tensor DotProductAttention::shard_bnh(Tensor x) const {
  const Axes blnh = activation_split("blnh");
  return blnh.empty() ? x : sharding_constraint(x, Sharding{pick(blnh, {0, 2, 3}, scope().path())});
}

DotProductAttention::Heads DotProductAttention::project_step(const AttentionStep& step) const {
  const bool cross = step.kind == AttentionStep::Kind::kCross;
  Heads heads{.mask = step.mask};
  if (config_.combine_qkv) {
    const CombinedQKVProjectionLayer::Heads all = combined_qkv_->project(step.query_bd);
    heads.query = all.query;
    heads.key = all.key;
    heads.value = all.value;
  } else {
    heads.query = query_->fprop(step.query_bd);
    if (!cross) {
      heads.key = key_->fprop(step.query_bd);
      heads.value = value_->fprop(step.query_bd);
    }
  }
  // From here on `key` and `value` are the cached ones, [B, S, N, H], up to and with this step.
  const auto cached = [&](std::string_view name, Tensor value) {
    return shard(cross ? kept(step, name) : extend(step, name, value), "blnh");
  };
  Tensor key = heads.key;
  if (!config_.consolidate_rope_key_state) heads.key = cached("key_state", key);
  heads.value = cached("value_state", heads.value);
  if (config_.dconv_qkv) {
    require_one_step(step.time_step);
    const Tensor queries = shard(extend(step, "query_state", heads.query), "blnh");
    heads.query = dconv_q_->extend_step(queries, step.time_step, step.segment_pos);
    if (!cross) {
      key = dconv_k_->extend_step(heads.key, step.time_step, step.segment_pos);
      heads.value = dconv_v_->extend_step(heads.value, step.time_step, step.segment_pos);
    }
    heads.key = cached("key_post_dconv", key);
    heads.value = cached("value_post_dconv", heads.value);
  }
  if (config_.use_rotary_position_emb) {
    const Tensor position = step.segment_pos ? step.segment_pos : broadcast_to(step.time_step, {step.query_bd.dim(0)});
    heads.query = rotary_position_emb_->extend_step(heads.query, position);
    if (!cross) key = rotary_position_emb_->extend_step(key, position);
    heads.key = cached(config_.consolidate_rope_key_state ? "key_state" : "key_post_rotary_pos_emb", key);
  }
  if (layer_norm_q_) {
    heads.query = layer_norm_q_->fprop(heads.query);
    heads.key = layer_norm_k_->fprop(heads.key);
  }
  if (relative_bias_) heads.relative_bias = relative_bias_->bias_of_step(step.time_step, heads.key.dim(1));
  return heads;
}

Tensor DotProductAttention::logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor) const {
  return qk_einsum_->einsum("bnh,bsnh->bns", query_bnh, key_bsnh);
}

Tensor DotProductAttention::mask_one_step(Tensor mask, Tensor) const { return mask; }

Tensor DotProductAttention::attend_one_step(const Heads& heads, Tensor time_step) const {
  const Tensor mask = mask_one_step(heads.mask, time_step);
  Tensor scores = logits_one_step(scale_query(shard_bnh(heads.query)), heads.key, time_step);
  if (heads.relative_bias) scores = scores + squeeze(heads.relative_bias, {2});
  if (config_.scale_logits_by_head_dims) scores = scores * (1.0 / std::sqrt(static_cast<double>(head_dim_)));
  const Tensor probs = probabilities(scores, mask, heads.key.dtype());
  Tensor encoded = weigh_values("bns,bsnh->bnh", probs, heads.value);
  if (config_.zero_fully_masked) encoded = encoded * expand_dims(sees_something(mask, encoded.dtype()), -1);
  return shard_bnh(encoded);
}

Tensor DotProductAttention::extend_step(const AttentionStep& step) const {
  const Tensor out = post_->fprop(attend_one_step(project_step(step), step.time_step));
  const Axes bld = activation_split("bld");
  return bld.empty() ? out : sharding_constraint(out, Sharding{pick(bld, {0, 2}, scope().path())});
}

}  // namespace pax
