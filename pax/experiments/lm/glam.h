#pragma once

#include "pax/control/remat.h"
#include "pax/layers/transformer_models/transformer_lm.h"

namespace pax {

/// Sizes of a language model with experts.
struct ExpertLmOptions {
  int64_t vocab_size = 0;
  int64_t model_dim = 0;
  int64_t hidden_dim = 0;  ///< of feed-forward layers and of each expert
  int64_t num_heads = 0;
  int64_t num_layers = 0;
  int64_t num_experts = 0;
  int64_t num_groups = 1;  ///< groups of tokens that are routed apart
  int64_t num_kv_heads = 1;
  double load_balance_loss_weight = 0.01;
  double z_loss_weight = 1e-4;
  bool repeat = true;
  int64_t num_stages = 1;  ///< of a pipeline; 1: none
  int64_t num_microbatches = 1;
  AutodiffCheckpointType checkpoint_policy = AutodiffCheckpointType::kSaveNothing;
};

/// GLaM (praxis glam.GlamUniTransformerLmHParams; Du et al. 2021): experts in every second layer, gated feed-forward
/// layers without bias, RMSNorm, relative position bias.
Tpl<LanguageModelLayer> glam_lm(const ExpertLmOptions& options);

/// Grok-1 (praxis grok.GrokUniTransformerLmHParams): experts in every layer, grouped keys and values, RMSNorm.
Tpl<LanguageModelLayer> grok_lm(const ExpertLmOptions& options);

}  // namespace pax
