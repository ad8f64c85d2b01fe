#pragma once

#include "pax/layers/softmax/softmax.h"

namespace pax {

// B: batch, T: positions, D: model dimension, V: vocabulary.

struct LmLabels {
  Tensor class_ids_bt;
  Tensor class_weights_bt;
  Tensor class_probabilities_btv;  ///< in place of ids; may be null
};

/// What a language model says of its input. Null where it is not asked for.
struct LmOutput : SoftmaxOutput {
  Tensor probs;                      ///< [B, T, V], without labels
  Tensor per_token_xent;             ///< [B, T], weighted
  Tensor per_sequence_xent;          ///< [B]
  Tensor total_loss;                 ///< the loss to minimise
  Tensor aux_loss, aux_loss_weight;  ///< sums over all auxiliary losses of the model
  Tensor avg_entropy_loss;
  Tensor activations_btd;
};

/// Logits and what follows from them.
LmOutput predictions(Tensor logits);

/// The softmax's answer completed by sums over tokens and rows; the total is the cross-entropy.
LmOutput labelled_loss(const SoftmaxOutput& xent, const LmLabels& labels);
SoftmaxInputs softmax_inputs(Tensor activations, const LmLabels& labels);

/// Adds to the total every auxiliary loss that layers below `scope` have left.
void add_aux_losses(const Scope& scope, LmOutput& output);

/// The load-balancing loss of all routers below `scope` together, as if their tokens were of one layer: experts times
/// the sum over experts of (choices / tokens) * (probabilities / tokens). Null when no router has left its statistics.
Tensor router_balance_loss(const Scope& scope);

}  // namespace pax
