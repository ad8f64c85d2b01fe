#pragma once

#include <cstdint>

namespace pax {

/// One row of logits, or of what becomes of them, and what of it the query may look at.
struct LogitRow {
  float* logits;
  const float* mask;  ///< below half of the lowest number: may not be looked at
  int64_t size;
};

/// Masks hold this or more where a query may look.
inline constexpr float kLeastAllowed = 0.5f * -0.7f * 3.40282347e38f;

/// Replaces the logits by their softmax; `slope` (null without a cap) gets the derivative of the capped logits. Where
/// nothing is allowed all weights are equal.
void softmax_row(const LogitRow& row, double cap, float* slope);

/// Replaces the cotangents of the weights `probs` by those of the logits.
void softmax_grad_row(const LogitRow& d_probs, const float* probs, const float* slope);

}  // namespace pax
