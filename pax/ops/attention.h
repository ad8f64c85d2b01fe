#pragma once

#include "pax/ir/op.h"

namespace pax {

struct AttentionOptions {
  /// Logits stay within this by tanh; 0: no cap.
  double logit_cap = 0;
};

/// What queries [B, T, N, H] take from keys and values [B, S, N, H]: softmax over S of their products, in f32, where
/// the mask [1|B, 1, 1|T, S] is not below half of the lowest f32. A query that may look nowhere takes the mean of all
/// values. Queries are not scaled. On CPU a kernel computes it without the weights [B, N, T, S]; the gradient computes
/// them again. Throws ShapeError naming the types when they do not fit.
Tensor attention(Tensor query_btnh, Tensor key_bsnh, Tensor value_bsnh, Tensor mask, AttentionOptions options = {});

}  // namespace pax
