#pragma once

#include "pax/experiments/lm/spmd_constants.h"
#include "pax/layers/transformers/stacked_transformer.h"

namespace pax {

// What presets change in the task of a language model.

Tpl<Layer> activation_template(ActivationClass which);

/// The StackedTransformer of the task's language model, inside pipeline and repetition. A handle: changes show in
/// the task.
Tpl<TransformerStack> block_of(SingleTask& task);
/// The template of its layers.
Tpl<TransformerLayer> layer_of(SingleTask& task);

/// Mesh, and the split of weights, activations and batch over it, as the constants say; nothing without a mesh.
void split_over_mesh(SingleTask& task, const LmSpmdConstants& constants);

/// What a GPT-3 has different (paxml c4.configure_gpt3_task).
struct Gpt3Options {
  double layernorm_epsilon = 1e-5;
  int64_t max_seq_len = 2048;
};
void configure_gpt3(SingleTask& task, const Gpt3Options& options);

/// Makes the experts of `block`, a StackedTransformer, like its feed-forward layer (paxml
/// model_params.maybe_setup_moe_params).
void experts_like_feed_forward(Tpl<TransformerStack>& block);

}  // namespace pax
