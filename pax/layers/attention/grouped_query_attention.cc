#include "pax/layers/attention/grouped_query_attention.h"

#include <cmath>

#include "pax/base/error.h"
#include "pax/layers/attention/masks.h"
#include "pax/layers/split_dims.h"
#include "pax/layers/stochastics.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

GroupedQueryAttention::GroupedQueryAttention(const Config& config, const Scope& scope)
    : Attention(config, scope), config_(config) {
  if (config.input_dim <= 0 || config.dim_per_head <= 0) {
    pax::fail<ConfigError>("{}: input_dim is {}, dim_per_head is {}; set both", scope.path(), config.input_dim,
                           config.dim_per_head);
  }
  if (config.num_kv_heads <= 0 || config.num_heads % config.num_kv_heads != 0) {
    pax::fail<ConfigError>("{}: num_heads {} is no multiple of num_kv_heads {}", scope.path(), config.num_heads,
                           config.num_kv_heads);
  }
  query_ = projection("query", config.num_heads, Direction::kIn);
  key_ = projection("key", config.num_kv_heads, Direction::kIn);
  value_ = projection("value", config.num_kv_heads, Direction::kIn);
  post_ = projection("post", config.num_heads, Direction::kOut);
  if (config.ln_tpl) {
    auto tpl = config.ln_tpl.clone_unshared();
    tpl.set("dim", config.dim_per_head);
    layer_norm_q_ = child("layer_norm_q", tpl);
    layer_norm_k_ = child("layer_norm_k", tpl);
  }
  if (config.rotary_position_emb_tpl) {
    auto tpl = config.rotary_position_emb_tpl.clone();
    tpl.set("embedding_dims", config.dim_per_head);
    rope_ = child("rope", tpl);
  } else if (config.rope_min_max_timescales) {
    RotaryPositionalEmbedding::Config rope;
    rope.min_timescale = (*config.rope_min_max_timescales)[0];
    rope.max_timescale = (*config.rope_min_max_timescales)[1];
    rope.embedding_dims = config.dim_per_head;
    rope_ = child("rope", Tpl<RotaryPositionalEmbedding>(rope));
  }
  Dropout::Config dropout;
  dropout.keep_prob = 1.0 - config.atten_dropout_prob;
  dropout_ = child("atten_dropout", Tpl<Layer>(dropout));
}

GroupedQueryAttention::Projection GroupedQueryAttention::projection(std::string_view name, int64_t num_heads,
                                                                    Direction direction) const {
  const int64_t d = config_.input_dim, h = config_.dim_per_head;
  const bool into = direction == Direction::kIn, of_keys = name == "key" || name == "value";
  Axes split = weight_split(of_keys && !weight_split("dkh").empty() ? "dkh" : "dnh");
  ParamSpec spec{.shape = {d, num_heads, h}, .split = split};
  spec.fan_in_axes = into ? std::vector<int64_t>{0} : std::vector<int64_t>{1, 2};
  spec.fan_out_axes = into ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{0};
  ParamSpec bias{.shape = into ? Shape{num_heads, h} : Shape{d},
                 .init = WeightInit::constant(0.0),
                 .split = into ? pick(split, {1, 2}, scope().path()) : pick(split, {0}, scope().path())};
  if (into && num_heads == 1) {
    spec.shape = {d, h};
    spec.split = pick(split, {0, 2}, scope().path());
    spec.fan_out_axes = {1};
    bias.shape = {h};
    bias.split = pick(split, {2}, scope().path());
  }
  const Scope place = scope().child(name);
  Projection projection{.w = place.param("w", spec), .b = {}, .lora = {}};
  if (config_.lora_rank > 0) {
    projection.lora = declare_lora({.rank = config_.lora_rank, .lora_init = {}}, place, {d}, {num_heads * h});
  }
  const bool has_bias = into ? config_.use_bias : config_.use_post_bias.value_or(config_.use_bias);
  if (has_bias) projection.b = place.param("b", bias);
  return projection;
}

Tensor GroupedQueryAttention::into_heads(std::string_view name, Tensor x, const Projection& projection) const {
  const Graph::PathGuard path(graph(), name);
  const bool one = projection.w.rank() == 2;
  Tensor y = one ? einsum("btd,dh->bth", x, projection.weight()) : einsum("btd,dnh->btnh", x, projection.weight());
  if (projection.b) y = y + projection.b;
  return checkpoint_name(one ? expand_dims(y, 2) : y, std::string(name) + "_proj");
}

Tensor GroupedQueryAttention::place(const Child<Layer>& norm, Tensor x, Tensor position) const {
  if (norm) x = norm->fprop(x);
  return rope_ ? rope_->fprop(x, position) : x;
}

Tensor GroupedQueryAttention::within_window(Tensor mask, Tensor first_query) const {
  return config_.local_window_size ? pax::within_window(mask, *config_.local_window_size, first_query, 0) : mask;
}

GroupedQueryAttention::Context GroupedQueryAttention::attend(Tensor query_btnh, Tensor key_bskh, Tensor value_bskh,
                                                             Tensor mask) const {
  const double scale = 1.0 / std::sqrt(static_cast<double>(config_.dim_per_head));
  Tensor query = query_btnh * scale;
  if (config_.atten_temp != 1.0) query = query / config_.atten_temp;
  // k: heads of keys, g: heads of queries for each of them.
  query = split_dim(query, 2, {config_.num_kv_heads, -1});
  Tensor scores = checkpoint_name(einsum("btkgh,bskh->bkgts", query, key_bskh), "logits");
  const double cap = config_.atten_logit_cap;
  if (cap > 0) scores = tanh(scores / cap) * cap;
  scores = convert(scores, DType::kF32);
  Tensor masked = mask.dtype() == DType::kPred ? mask : ne(mask, 0.0);
  masked = mask.dim(1) == 1 ? expand_dims(masked, 1) : split_dim(masked, 1, {config_.num_kv_heads, -1});
  scores = select(masked, large_negative_number(DType::kF32), scores);
  const Tensor probs = dropout_->fprop(convert(softmax(scores), key_bskh.dtype()));
  const Tensor encoded = merge_dims(einsum("bkgts,bskh->btkgh", probs, value_bskh), 2, 3);
  return {.encoded = checkpoint_name(encoded, "context"), .probs = probs};
}

Tensor GroupedQueryAttention::out_of_heads(Tensor encoded_btnh) const {
  const Graph::PathGuard path(graph(), "post");
  const Tensor y = einsum("btnh,dnh->btd", shard(encoded_btnh, "btnh"), post_.weight());
  return checkpoint_name(shard(post_.b ? y + post_.b : y, "btd"), "out_proj");
}

AttentionOutput GroupedQueryAttention::fprop(const AttentionInputs& inputs) const {
  Tensor query = into_heads("query", shard(inputs.query_btd, "btd"), query_);
  Tensor key = into_heads("key", shard(inputs.key_bsd, "btd"), key_);
  Tensor value = into_heads("value", shard(inputs.value_bsd, "btd"), value_);
  query = place(layer_norm_q_, shard(query, "btnh"), inputs.query_segment_pos);
  key = place(layer_norm_k_, shard(key, "bskh"), inputs.key_segment_pos);
  value = shard(value, "bskh");
  keep(inputs.cache, "key_state", key);
  keep(inputs.cache, "value_state", value);
  const Context context = attend(query, key, value, within_window(inputs.mask, {}));
  return {.encoded_btd = out_of_heads(context.encoded), .probs = context.probs};
}

Tensor GroupedQueryAttention::extend_step(const AttentionStep& step) const {
  const Tensor x = expand_dims(step.query_bd, 1);
  const Tensor position = step.segment_pos ? step.segment_pos : broadcast_to(step.time_step, {step.query_bd.dim(0)});
  const Tensor query = place(layer_norm_q_, into_heads("query", x, query_), expand_dims(position, 1));
  if (step.kind == AttentionStep::Kind::kSelf) {
    const Tensor key = place(layer_norm_k_, into_heads("key", x, key_), expand_dims(position, 1));
    extend(step, "key_state", squeeze(key, {1}));
    extend(step, "value_state", squeeze(into_heads("value", x, value_), {1}));
  }
  const Tensor mask = within_window(expand_dims(step.mask, 1), step.time_step);
  const Context context = attend(query, kept(step, "key_state"), kept(step, "value_state"), mask);
  return squeeze(out_of_heads(context.encoded), {1});
}

template const config::ConfigType& config::type_of<GroupedQueryAttention::Config>();

}  // namespace pax
