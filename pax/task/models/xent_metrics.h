#pragma once

#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/task/base_model.h"

namespace pax {

struct XentOptions {
  /// Weigh rows by `eval_sample_weights` [B].
  bool apply_eval_sample_weights = false;
  bool report_strict_acc = false;
  bool return_predictions = false;
};

/// Token weights of a batch, times the row weights where asked.
Tensor token_weights(const Tree<Tensor>& batch, const XentOptions& options);

/// The metrics of models that foretell tokens (praxis models.compute_xent_loss_helper), each with its weight, and the
/// score of each row: minus its cross-entropy.
ModelOutput xent_metrics(const LmOutput& predictions, const Tree<Tensor>& batch, const XentOptions& options);

}  // namespace pax
