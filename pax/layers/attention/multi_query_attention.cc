#include "pax/layers/attention/multi_query_attention.h"

#include <cmath>

#include "pax/base/error.h"
#include "pax/layers/attention/attention_weights.h"
#include "pax/layers/attention/masks.h"
#include "pax/layers/split_dims.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

MultiQueryDotProductAttention::MultiQueryDotProductAttention(const Config& config, const Scope& scope)
    : Attention(config, scope),
      config_(config),
      head_dim_(head_dim_of({config.dim_per_head, config.hidden_dim, config.num_heads}, scope)) {
  if (config.dconv_qkv || config.combine_qkv) {
    pax::fail<ConfigError>("{}: dconv_qkv and combine_qkv are not for shared keys and values", scope.path());
  }
  if (config.consolidate_rope_key_state && !config.use_rotary_position_emb) {
    pax::fail<ConfigError>("{}: consolidate_rope_key_state needs use_rotary_position_emb", scope.path());
  }
  if (config.num_kv_heads <= 0 || config.num_heads % config.num_kv_heads != 0) {
    pax::fail<ConfigError>("{}: num_heads {} is no multiple of num_kv_heads {}", scope.path(), config.num_heads,
                           config.num_kv_heads);
  }
  const InputDims dims = input_dims_of(config.input_dim, scope);
  const auto into_heads = [&](int64_t input_dim, int64_t num_heads) {
    auto tpl = config.proj_tpl.clone_unshared();
    tpl.set("input_dim", input_dim);
    tpl.set("num_heads", num_heads);
    tpl.set("dim_per_head", head_dim_);
    tpl.set("use_bias", config.use_bias);
    set_weight_split(tpl, "wt", weight_split("proj"));
    return tpl;
  };
  const auto of_kv = [&](int64_t input_dim) {
    if (!one_kv_head()) return into_heads(input_dim, config.num_kv_heads);
    auto tpl = config.headless_proj_tpl.clone_unshared();
    tpl.set("input_dim", input_dim);
    tpl.set("output_dim", head_dim_);
    tpl.set("use_bias", config.use_bias);
    set_weight_split(tpl, "wt", weight_split("proj_headless"));
    return tpl;
  };
  value_ = child("value", of_kv(dims.value));
  key_ = child("key", of_kv(dims.key));
  query_ = child("query", into_heads(dims.query, config.num_heads));
  auto post = into_heads(dims.query, config.num_heads);
  post.set("is_output_projection", true);
  post.set("use_nhd_shape", config.output_proj_use_nhd_shape);
  post_ = child("post", post);
  if (config.use_rotary_position_emb) {
    auto tpl = config.rotary_position_emb_tpl.clone();
    tpl.set("embedding_dims", head_dim_);
    rotary_position_emb_ = child("rotary_position_emb", tpl);
  }
  if (config.relative_bias_tpl) {
    auto tpl = config.relative_bias_tpl.clone();
    tpl.set("num_heads", config.num_heads);
    relative_bias_ = child("relative_bias", tpl);
  }
  auto dropout = config.dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.atten_dropout_prob);
  atten_dropout_ = child("atten_dropout", dropout);
  qk_einsum_ = child("qk_einsum", config.qk_einsum_tpl);
  pv_einsum_ = child("pv_einsum", config.pv_einsum_tpl);
}

Tensor MultiQueryDotProductAttention::scale_query(Tensor query) const {
  const int64_t dim = config_.scale_query_by_dim_per_head && config_.dim_per_head
                          ? *config_.dim_per_head
                          : config_.hidden_dim / config_.num_heads;
  return query * (1.0 / std::sqrt(static_cast<double>(dim)));
}

Tensor MultiQueryDotProductAttention::shard_kv(Tensor x) const {
  const Axes blnh = activation_split("blnh");
  if (!one_kv_head()) return shard(x, "blnh");
  if (!activation_split("blh").empty()) return shard(x, "blh");
  return blnh.empty() ? x : sharding_constraint(x, Sharding{pick(blnh, {0, 1, 3}, scope().path())});
}

Tensor MultiQueryDotProductAttention::logits(Tensor query_btnh, Tensor key) const {
  if (one_kv_head()) return qk_einsum_->einsum("btnh,bsh->bnts", query_btnh, key);
  // k: heads of keys, g: heads of queries for each of them.
  const Tensor grouped = split_dim(query_btnh, 2, {config_.num_kv_heads, -1});
  return merge_dims(qk_einsum_->einsum("btkgh,bskh->bkgts", grouped, key), 1, 2);
}

Tensor MultiQueryDotProductAttention::weigh_values(Tensor probs_bnts, Tensor value) const {
  if (one_kv_head()) return pv_einsum_->einsum("bnts,bsh->btnh", probs_bnts, value);
  const Tensor grouped = split_dim(probs_bnts, 1, {config_.num_kv_heads, -1});
  return merge_dims(pv_einsum_->einsum("bkgts,bskh->btkgh", grouped, value), 2, 3);
}

Tensor MultiQueryDotProductAttention::probabilities(Tensor logits, Tensor mask, DType dtype) const {
  return attention_weights(logits, mask, {config_.atten_logit_cap, config_.attention_extra_logit}, dtype);
}

Tensor MultiQueryDotProductAttention::within_window(Tensor mask, Tensor first_query) const {
  return config_.local_window_size ? pax::within_window(mask, *config_.local_window_size, first_query, 0) : mask;
}

MultiQueryDotProductAttention::Context MultiQueryDotProductAttention::attend(const Heads& heads) const {
  Tensor scores = logits(heads.query, heads.key);
  if (heads.relative_bias) scores = scores + heads.relative_bias;
  scores = checkpoint_name(scores, "logits");
  const Tensor probs = atten_dropout_->fprop(probabilities(scores, heads.mask, heads.key.dtype()));
  return {.encoded = weigh_values(probs, heads.value), .probs = probs};
}

MultiQueryDotProductAttention::Context MultiQueryDotProductAttention::attend_by_chunks(const Heads& heads) const {
  const int64_t chunks = config_.chunked_attn_num_seq_split, t = heads.query.dim(1), s = heads.key.dim(1);
  if (s % chunks != 0 || t != s) {
    fail("chunked_attn_num_seq_split " + std::to_string(chunks) + " must divide the " + std::to_string(s) +
         " positions of self-attention");
  }
  const int64_t w = s / chunks;
  std::vector<Tensor> encoded;
  for (int64_t begin = 0; begin < s; begin += w) {
    const int64_t end = begin + w;
    const int64_t first = config_.local_window_size ? std::max<int64_t>(0, begin - (*config_.local_window_size)[0]) : 0;
    const auto part = [&](Tensor x) {
      if (x && x.dim(2) != 1) x = slice_dim(x, 2, begin, end);
      return x ? slice_dim(x, 3, first, end) : x;
    };
    encoded.push_back(attend({.query = slice_dim(heads.query, 1, begin, end),
                              .key = slice_dim(heads.key, 1, first, end),
                              .value = slice_dim(heads.value, 1, first, end),
                              .mask = part(heads.mask),
                              .relative_bias = part(heads.relative_bias)})
                          .encoded);
  }
  return {.encoded = concatenate(std::move(encoded), 1), .probs = {}};
}

Tensor MultiQueryDotProductAttention::rotate_keys(Tensor key_bs, Tensor position) const {
  if (!one_kv_head()) return rotary_position_emb_->fprop(key_bs, position);
  return squeeze(rotary_position_emb_->fprop(expand_dims(key_bs, 2), position), {2});
}

MultiQueryDotProductAttention::Heads MultiQueryDotProductAttention::project(const AttentionInputs& inputs) const {
  Heads heads{.query = checkpoint_name(query_->fprop(inputs.query_btd), "query_proj"),
              .key = checkpoint_name(key_->fprop(inputs.key_bsd), "key_proj"),
              .value = checkpoint_name(value_->fprop(inputs.value_bsd), "value_proj"),
              .mask = inputs.mask,
              .relative_bias = {}};
  if (!config_.consolidate_rope_key_state) keep(inputs.cache, "key_state", heads.key);
  keep(inputs.cache, "value_state", heads.value);
  if (config_.use_rotary_position_emb) {
    heads.query = rotary_position_emb_->fprop(heads.query, inputs.query_segment_pos);
    heads.key = rotate_keys(heads.key, inputs.key_segment_pos);
    keep(inputs.cache, config_.consolidate_rope_key_state ? "key_state" : "key_post_rotary_pos_emb", heads.key);
  }
  if (relative_bias_) {
    const auto positions = [&](Tensor given, Tensor of) {
      return given ? given : iota(graph(), {DType::kS32, {of.dim(0), of.dim(1)}}, 1);
    };
    heads.relative_bias = relative_bias_->bias(positions(inputs.query_segment_pos, inputs.query_btd),
                                               positions(inputs.key_segment_pos, inputs.key_bsd));
  }
  heads.query = scale_query(shard(heads.query, "blnh"));
  heads.key = shard_kv(heads.key);
  heads.value = shard_kv(heads.value);
  return heads;
}

AttentionOutput MultiQueryDotProductAttention::fprop(const AttentionInputs& inputs) const {
  Heads heads = project(inputs);
  if (config_.local_window_size && heads.mask.dim(2) == 1) {
    heads.mask = broadcast_to(heads.mask, {heads.mask.dim(0), 1, heads.query.dim(1), heads.mask.dim(3)});
  }
  heads.mask = within_window(heads.mask, {});
  Context context = config_.chunked_attn_num_seq_split > 1 ? attend_by_chunks(heads) : attend(heads);
  if (config_.zero_fully_masked) {
    const Tensor seen = sees_something(heads.mask, context.encoded.dtype());
    context.encoded = context.encoded * expand_dims(expand_dims(squeeze(seen, {1}), -1), -1);
  }
  const Tensor encoded = shard(checkpoint_name(context.encoded, "context"), "blnh");
  const Tensor out = shard(post_->fprop(encoded), "bld");
  return {.encoded_btd = checkpoint_name(out, "out_proj"), .probs = context.probs};
}

Tensor MultiQueryDotProductAttention::extend_step(const AttentionStep& step) const {
  const bool cross = step.kind == AttentionStep::Kind::kCross;
  const bool rotary = config_.use_rotary_position_emb;
  const auto cached = [&](std::string_view name, Tensor value) {
    return shard_kv(cross ? kept(step, name) : extend(step, name, value));
  };
  Heads heads{.query = query_->fprop(step.query_bd), .key = {}, .value = {}, .mask = {}, .relative_bias = {}};
  Tensor key = cross ? Tensor() : key_->fprop(step.query_bd);
  heads.value = cached("value_state", cross ? Tensor() : value_->fprop(step.query_bd));
  if (!rotary || !config_.consolidate_rope_key_state) heads.key = cached("key_state", key);
  if (rotary) {
    const Tensor position = step.segment_pos ? step.segment_pos : broadcast_to(step.time_step, {step.query_bd.dim(0)});
    heads.query = rotary_position_emb_->extend_step(heads.query, position);
    if (!cross) {
      key = one_kv_head() ? squeeze(rotary_position_emb_->extend_step(expand_dims(key, 1), position), {1})
                          : rotary_position_emb_->extend_step(key, position);
    }
    heads.key = cached(config_.consolidate_rope_key_state ? "key_state" : "key_post_rotary_pos_emb", key);
  }
  if (relative_bias_) heads.relative_bias = relative_bias_->bias_of_step(step.time_step, heads.key.dim(1));
  heads.query = expand_dims(scale_query(heads.query), 1);
  heads.mask = within_window(expand_dims(step.mask, 1), step.time_step);
  Tensor encoded = squeeze(attend(heads).encoded, {1});
  if (config_.zero_fully_masked) {
    const Tensor seen = sees_something(heads.mask, encoded.dtype());  // [1|B, 1, 1]
    encoded = encoded * seen;
  }
  const Tensor out = post_->fprop(encoded);
  const Axes bd = activation_split("bd"), bld = activation_split("bld");
  if (!bd.empty()) return shard(out, "bd");
  return bld.empty() ? out : sharding_constraint(out, Sharding{pick(bld, {0, 2}, scope().path())});
}

template const config::ConfigType& config::type_of<MultiQueryDotProductAttention::Config>();

}  // namespace pax
