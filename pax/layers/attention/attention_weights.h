#pragma once

#include <optional>

#include "pax/ir/op.h"

namespace pax {

struct AttentionSoftmax {
  double logit_cap = 0;               ///< logits stay within this by tanh; 0: no cap
  std::optional<double> extra_logit;  ///< of a key that is always there and holds 0
};

/// Weights over the last dimension: capped logits where the mask allows, softmax in float32, given in `dtype`.
Tensor attention_weights(Tensor logits, Tensor mask, const AttentionSoftmax& options, DType dtype);

}  // namespace pax
