#pragma once

#include "pax/ir/graph.h"

namespace pax {

// Connectionist temporal classification (Graves et al. 2006; praxis ctc_objectives.py, optax.ctc_loss).
// B: batch, T: frames, K: classes, N: labels.

struct CtcInputs {
  Tensor logits_btk;
  Tensor logit_paddings_bt;  ///< 1 at padding, anywhere
  Tensor labels_bn;          ///< integers
  Tensor label_paddings_bn;  ///< 1 at padding, at the end only
  int64_t blank_id = 0;
  double log_epsilon = -1e5;  ///< stands for log 0
};

/// What is known of each frame from those before it.
struct CtcForward {
  Tensor per_seq_loss;   ///< [B]: minus the log-probability of the labels
  Tensor logalpha_phi;   ///< [T, B, N + 1]: of blank after n labels
  Tensor logalpha_emit;  ///< [T, B, N]: of emitting label n
};
/// Throws ShapeError unless batches, frames and labels agree.
CtcForward ctc_loss_with_forward_probs(const CtcInputs& inputs);

/// [B].
Tensor ctc_loss(const CtcInputs& inputs);

struct CtcAlignments {
  Tensor per_seq_loss;    ///< [B]
  Tensor alignment;       ///< [B, T], i32: how many labels have begun by each frame, in the best alignment
  Tensor state_logprobs;  ///< [T, B, N + 1]
};
/// The loss both ways, and the best monotonic alignment that emits every label.
CtcAlignments ctc_loss_with_alignments(const CtcInputs& inputs);

/// f32 [B]: 1 where there are frames enough for the labels, and a blank between equal ones.
Tensor is_valid_ctc_seq(Tensor logit_paddings_bt, Tensor labels_bn, Tensor label_paddings_bn);

}  // namespace pax
