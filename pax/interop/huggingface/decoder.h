#pragma once

#include "pax/interop/huggingface/family.h"
#include "pax/layers/positions.h"
#include "pax/layers/transformers/norm_policy.h"
#include "pax/layers/transformers/stack.h"

namespace pax::hf {

/// All that the layers of a decoder-only model, or of an encoder of its kind, may differ in.
struct DecoderSpec {
  int64_t vocab = 0, dims = 0, layers = 0, hidden = 0;
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  Tpl<Layer> norm;
  NormPolicy norm_policy = NormPolicy::kPre;
  Tpl<Layer> final_norm;

  bool qkv_bias = false, post_bias = false;
  bool qk_norm = false;
  double query_scale = 0;       ///< 0: 1 / sqrt(head_dim)
  bool scale_by_layer = false;  ///< logits of layer i are divided by i + 1
  double attention_cap = 0;
  Tpl<RotaryPositionalEmbedding> rope;
  std::vector<std::optional<int64_t>> windows{};  ///< of each layer, the present position included; empty: none

  Tpl<Layer> activation;
  bool gated = false, mlp_bias = false, parallel = false;
  int64_t experts = 0, experts_per_token = 0;
  std::optional<double> router_loss_weight{};

  Tpl<BasePositionalEmbedding> positions;
  Tpl<Layer> token_types, embedding_norm;
  bool scale_embedding = false;
  bool tied = false, head_bias = false, bidirectional = false;
  double logit_cap = 0;
  double attention_dropout = 0, residual_dropout = 0;
};

/// The repeating part of a list of layers: the shortest block that divides them and repeats at least twice; 0: none.
int64_t repeated_period(const DecoderSpec& spec, const PlanOptions& options);

/// The stack of layers, without the width that the model around it sets.
Tpl<TransformerStack> stack_of(const DecoderSpec& spec, int64_t period);

/// The TransformerLm of `spec`, in a LanguageModel (in a BertModel when it is bidirectional): the model, places and
/// sizes of a plan. The table is left to the family.
ModelPlan decoder_plan(const DecoderSpec& spec, const PlanOptions& options);

Tpl<Layer> rms_norm(double epsilon);
Tpl<Layer> rms_norm_plus_one(double epsilon);
Tpl<Layer> layer_norm(double epsilon);

/// Whether the output layer shares the embedding's weights: as the config says, unless the file has only the one.
bool is_tied(const HfConfig& config, const PlanOptions& options, bool otherwise);

ModelPlan llama_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan mistral_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan mixtral_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan gemma_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan gemma2_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan qwen2_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan qwen3_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan phi3_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan gpt2_plan(const HfConfig& config, const PlanOptions& options);
ModelPlan gpt_neox_plan(const HfConfig& config, const PlanOptions& options);

}  // namespace pax::hf
