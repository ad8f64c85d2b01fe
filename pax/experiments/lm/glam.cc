#include "pax/experiments/lm/glam.h"

#include <algorithm>

#include "pax/layers/activations.h"
#include "pax/layers/attention/dot_product_attention.h"
#include "pax/layers/attention/multi_query_attention.h"
#include "pax/layers/softmax/gshard_softmax.h"
#include "pax/layers/transformers/pipelined_transformer.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"

namespace pax {
namespace {

constexpr double kCapacityFactor = 2.0;

StackedTransformer::Config expert_block(const ExpertLmOptions& o) {
  StackedTransformer::Config block;
  block.name = "decoder_block";
  block.packed_input = true;
  block.model_dims = o.model_dim;
  block.hidden_dims = o.hidden_dim;
  block.num_heads = o.num_heads;
  block.dim_per_head = o.model_dim / std::max<int64_t>(o.num_heads, 1);
  block.num_experts = o.num_experts;
  block.num_groups = o.num_groups;
  block.mask_self_attention = true;
  block.moe_layers = {0};
  std::get<0>(block.transformer_layer_params_tpl).set("ln_tpl", RmsNorm::Config{});
  TransformerFeedForwardMoe::Config experts;
  experts.input_dims = o.model_dim;
  experts.hidden_dims = o.hidden_dim;
  experts.ln_tpl = RmsNorm::Config{};
  experts.num_experts = o.num_experts;
  experts.num_groups = o.num_groups;
  experts.unadjusted_expert_capacity_factor = kCapacityFactor;
  experts.internal_gshard_variance_scaling_fan_in_init = true;
  experts.moe_load_balance_loss_weight = o.load_balance_loss_weight;
  block.moe_layer_tpl = experts;
  return block;
}

TransformerLm::Config lm_around(const Tpl<TransformerStack>& stack, const char* name, const ExpertLmOptions& o) {
  TransformerLm::Config lm;
  lm.name = name;
  lm.packed_input = true;
  lm.model_dims = o.model_dim;
  lm.vocab_size = o.vocab_size;
  lm.position_emb_tpl = nullptr;
  RmsNorm::Config norm;
  norm.name = "rms_norm";
  norm.dim = o.model_dim;
  lm.final_ln_tpl = norm;
  GShardSharedEmbeddingSoftmax::Config softmax;
  softmax.name = "emb";
  softmax.input_dims = o.model_dim;
  softmax.num_classes = o.vocab_size;
  softmax.z_loss_weight = o.z_loss_weight;
  lm.softmax_tpl = softmax;
  lm.stacked_transformer_tpl = stack;
  return lm;
}

/// `block`, which holds `layers_of_block` layers, for all layers: repeated, written out, or in stages.
Tpl<TransformerStack> whole_stack(StackedTransformer::Config block, int64_t layers_of_block, const ExpertLmOptions& o) {
  if (o.repeat && o.num_stages == 1) {
    StackedTransformerRepeated::Config repeated;
    repeated.name = "decoder";
    block.num_layers = layers_of_block;
    repeated.block = block;
    repeated.x_times = o.num_layers / layers_of_block;
    repeated.checkpoint_policy = o.checkpoint_policy;
    return repeated;
  }
  block.num_layers = o.num_layers / o.num_stages;
  block.moe_layers->clear();
  for (int64_t i = 0; i < block.num_layers; i += layers_of_block) block.moe_layers->push_back(i);
  if (o.num_stages == 1) return block;
  PipelinedTransformer::Config pipeline;
  pipeline.pipeline_stage = block;
  pipeline.num_pipeline_stages = o.num_stages;
  pipeline.num_pipeline_microbatches = o.num_microbatches;
  pipeline.stream_io = true;
  pipeline.checkpoint_policy = o.checkpoint_policy;
  return pipeline;
}

}  // namespace

Tpl<LanguageModelLayer> glam_lm(const ExpertLmOptions& o) {
  StackedTransformer::Config block = expert_block(o);
  auto& layer = std::get<0>(block.transformer_layer_params_tpl);
  DotProductAttention::Config attention;
  attention.attention_extra_logit = 0.0;
  attention.use_bias = false;
  attention.internal_gshard_gaussian_init = true;
  attention.internal_enable_query_scale = false;
  attention.internal_enable_per_dim_scale = false;
  attention.proj_tpl.set("attention_combine_dims", true);
  RelativeBias::Config bias;
  bias.relative_attention_num_buckets = 32;
  bias.relative_attention_max_distance = 128;
  bias.bidirectional = false;
  attention.relative_bias_tpl = bias;
  attention.output_proj_use_nhd_shape = true;
  layer.set("tr_atten_tpl", attention);
  TransformerFeedForward::Config ffn;
  ffn.input_dims = o.model_dim;
  ffn.hidden_dims = o.hidden_dim;
  ffn.has_bias = false;
  ffn.apply_padding_first = true;
  ffn.ln_tpl = RmsNorm::Config{};
  ffn.activation_tpl = GELU::Config{};
  ffn.use_gated_activation = true;
  ffn.internal_gshard_variance_scaling_fan_in_init = true;
  layer.set("tr_fflayer_tpl", ffn);
  return lm_around(whole_stack(block, 2, o), "glam_lm", o);
}

Tpl<LanguageModelLayer> grok_lm(const ExpertLmOptions& o) {
  StackedTransformer::Config block = expert_block(o);
  auto& layer = std::get<0>(block.transformer_layer_params_tpl);
  MultiQueryDotProductAttention::Config attention;
  attention.num_kv_heads = o.num_kv_heads;
  attention.proj_tpl.set("use_bias", true);
  layer.set("tr_atten_tpl", attention);
  block.moe_layer_tpl.set("activation_tpl", GELU::Config{});
  block.moe_layer_tpl.set("use_gated_activation", true);
  return lm_around(whole_stack(block, 1, o), "grok_lm", o);
}

}  // namespace pax
