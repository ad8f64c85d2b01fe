#include "pax/interop/huggingface/decoder.h"

#include <fmt/format.h>

#include <cmath>

#include "pax/layers/attention/grouped_query_attention.h"
#include "pax/layers/embedding.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"
#include "pax/task/models/language_model.h"

namespace pax::hf {
namespace {

GroupedQueryAttention::Config attention_of(const DecoderSpec& spec, int64_t layer) {
  GroupedQueryAttention::Config out;
  out.num_kv_heads = spec.kv_heads;
  out.use_bias = spec.qkv_bias;
  if (spec.post_bias != spec.qkv_bias) out.use_post_bias = spec.post_bias;
  out.atten_logit_cap = spec.attention_cap;
  // Queries are multiplied by 1 / (sqrt(head_dim) * atten_temp).
  if (spec.query_scale != 0) {
    out.atten_temp = 1.0 / (spec.query_scale * std::sqrt(static_cast<double>(spec.head_dim)));
  }
  if (spec.scale_by_layer) out.atten_temp *= static_cast<double>(layer + 1);
  if (spec.rope) out.rotary_position_emb_tpl = spec.rope.clone();
  if (spec.qk_norm) out.ln_tpl = spec.norm.clone();
  return out;
}

Tpl<TransformerFfn> feed_forward_of(const DecoderSpec& spec) {
  if (spec.experts > 0) {
    TransformerFeedForwardMoe::Config moe;
    moe.num_experts = spec.experts;
    moe.num_groups = 1;
    moe.num_experts_per_token = spec.experts_per_token;
    moe.gating_func = GatingFunc::kDenseTopk;
    moe.use_gated_activation = spec.gated;
    moe.activation_tpl = spec.activation.clone();
    moe.ln_tpl = spec.norm.clone();
    return moe;
  }
  TransformerFeedForward::Config ffn;
  ffn.has_bias = spec.mlp_bias;
  ffn.use_gated_activation = spec.gated;
  ffn.activation_tpl = spec.activation.clone();
  ffn.ln_tpl = spec.norm.clone();
  return ffn;
}

Tpl<TransformerLayer> layer_of(const DecoderSpec& spec, int64_t layer) {
  Transformer::Config out;
  out.ln_tpl = spec.norm.clone();
  out.norm_policy = spec.norm_policy;
  out.parallel_residual = spec.parallel;
  out.tr_atten_tpl = attention_of(spec, layer);
  out.tr_fflayer_tpl = feed_forward_of(spec);
  return out;
}

bool has_windows(const DecoderSpec& spec) {
  for (const auto& window : spec.windows) {
    if (window) return true;
  }
  return false;
}

/// Attention sees what is before it anyway, so that a window says nothing of what comes after.
AttentionWindow window_of(int64_t size) { return {size - 1, 0}; }

}  // namespace

int64_t repeated_period(const DecoderSpec& spec, const PlanOptions& options) {
  if (!options.repeat_layers || spec.scale_by_layer) return 0;
  for (int64_t period = 1; period <= spec.layers / 2; ++period) {
    if (spec.layers % period != 0) continue;
    bool repeats = true;
    for (size_t i = 0; i < spec.windows.size(); ++i) {
      repeats = repeats && spec.windows[i] == spec.windows[i % static_cast<size_t>(period)];
    }
    if (repeats) return period;
  }
  return 0;
}

Tpl<TransformerStack> stack_of(const DecoderSpec& spec, int64_t period) {
  StackedTransformer::Config stack;
  stack.num_layers = period == 0 ? spec.layers : period;
  stack.hidden_dims = spec.hidden;
  stack.num_heads = spec.heads;
  stack.dim_per_head = spec.head_dim;
  stack.atten_dropout_prob = spec.attention_dropout;
  stack.residual_dropout_prob = spec.residual_dropout;
  if (spec.scale_by_layer) {
    std::vector<Tpl<TransformerLayer>> layers;
    for (int64_t i = 0; i < spec.layers; ++i) layers.push_back(layer_of(spec, i));
    stack.transformer_layer_params_tpl = layers;
  } else {
    stack.transformer_layer_params_tpl = layer_of(spec, 0);
  }
  if (has_windows(spec)) {
    std::vector<std::optional<AttentionWindow>> windows(static_cast<size_t>(stack.num_layers));
    for (size_t i = 0; i < windows.size(); ++i) {
      if (spec.windows[i]) windows[i] = window_of(*spec.windows[i]);
    }
    stack.local_window_size = windows;
  }
  if (period == 0) return stack;
  StackedTransformerRepeated::Config repeated;
  repeated.block = stack;
  repeated.x_times = spec.layers / period;
  return repeated;
}

ModelPlan decoder_plan(const DecoderSpec& spec, const PlanOptions& options) {
  const int64_t period = repeated_period(spec, options);
  TransformerLm::Config lm;
  lm.model_dims = spec.dims;
  lm.vocab_size = spec.vocab;
  lm.position_emb_tpl = spec.positions;
  lm.token_type_embedding_tpl = spec.token_types;
  lm.embedding_ln_tpl = spec.embedding_norm;
  lm.stacked_transformer_tpl = stack_of(spec, period);
  lm.final_ln_tpl = spec.final_norm;
  lm.router_loss_weight = spec.router_loss_weight;
  const std::optional<double> cap = spec.logit_cap != 0 ? std::optional(spec.logit_cap) : std::nullopt;
  if (spec.tied) {
    NClassMajorSharedEmbeddingSoftmax::Config softmax;
    softmax.scale_sqrt_depth = spec.scale_embedding;
    softmax.use_bias = spec.head_bias;
    softmax.soft_cap_logits = cap;
    lm.softmax_tpl = softmax;
  } else {
    Embedding::Config embedding;
    embedding.scale_sqrt_depth = spec.scale_embedding;
    lm.separate_embedding_tpl = embedding;
    FullSoftmax::Config softmax;
    softmax.soft_cap_logits = cap;
    softmax.feed_forward_tpl.set("has_bias", spec.head_bias);
    lm.softmax_tpl = softmax;
  }
  LanguageModel::Config model;
  model.lm_tpl = lm;
  if (spec.bidirectional) model.model_type = LanguageModelType::kBidirectional;

  ModelPlan plan;
  plan.model = model;
  plan.places["{layer}"] = {.stack = "params/lm/transformer", .layers = spec.layers, .period = period};
  plan.experts = spec.experts;
  plan.sizes = {{'n', spec.heads}, {'k', spec.kv_heads}, {'h', spec.head_dim}, {'d', spec.dims}, {'f', spec.hidden}};
  return plan;
}

Tpl<Layer> rms_norm(double epsilon) {
  RmsNorm::Config norm;
  norm.epsilon = epsilon;
  norm.intermediate_dtype = DType::kF32;
  return norm;
}

Tpl<Layer> rms_norm_plus_one(double epsilon) {
  Tpl<Layer> norm = rms_norm(epsilon);
  norm.set("direct_scale", false);
  return norm;
}

Tpl<Layer> layer_norm(double epsilon) {
  LayerNorm::Config norm;
  norm.epsilon = epsilon;
  norm.direct_scale = true;
  norm.reductions_in_fp32 = true;
  return norm;
}

bool is_tied(const HfConfig& config, const PlanOptions& options, bool otherwise) {
  if (!options.has_head && !config.architecture().empty() && config.architecture().ends_with("Model")) return true;
  return config.flag("tie_word_embeddings", otherwise) && !options.has_head;
}

}  // namespace pax::hf
