#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

// Reductions over `dims` (negative counts from the end), which disappear from the shape or stay with size 1; without
// `dims` over all of them.

enum class Reduced : uint8_t { kDropped, kKept };

/// bfloat16, float16 and float8 accumulate in float32.
Tensor reduce_sum(Tensor x, std::vector<int64_t> dims, Reduced reduced = Reduced::kDropped);
Tensor reduce_sum(Tensor x);
Tensor reduce_mean(Tensor x, std::vector<int64_t> dims, Reduced reduced = Reduced::kDropped);
Tensor reduce_mean(Tensor x);
/// The gradient is shared evenly by the elements that are the largest.
Tensor reduce_max(Tensor x, std::vector<int64_t> dims, Reduced reduced = Reduced::kDropped);
Tensor reduce_max(Tensor x);
Tensor reduce_min(Tensor x, std::vector<int64_t> dims, Reduced reduced = Reduced::kDropped);
Tensor reduce_min(Tensor x);
Tensor reduce_prod(Tensor x, std::vector<int64_t> dims, Reduced reduced = Reduced::kDropped);
/// Of bool.
Tensor reduce_and(Tensor x, std::vector<int64_t> dims, Reduced reduced = Reduced::kDropped);
Tensor reduce_or(Tensor x, std::vector<int64_t> dims, Reduced reduced = Reduced::kDropped);

/// i32: where along `dim` the largest (smallest) element is, the first of equal ones, the first NaN if any.
Tensor argmax(Tensor x, int64_t dim);
Tensor argmin(Tensor x, int64_t dim);

/// log(sum(e^x)) over `dims` without overflow; -inf where all are -inf.
Tensor logsumexp(Tensor x, std::vector<int64_t> dims, Reduced reduced = Reduced::kDropped);

/// e^x / sum(e^x) along `dim`, and its logarithm; inside in float32 at least.
Tensor softmax(Tensor x, int64_t dim = -1);
Tensor log_softmax(Tensor x, int64_t dim = -1);

}  // namespace pax
