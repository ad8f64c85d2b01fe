#pragma once

#include "pax/ir/op.h"

namespace pax {

// Of the last two dimensions; those before are a batch.

/// The lower triangular L with L Lᵀ = (x + xᵀ) / 2, which must be positive definite (NaN if not).
Tensor cholesky(Tensor x);

enum class Side : uint8_t { kLeft, kRight };
struct TriangularOptions {
  Side side = Side::kLeft;
  bool lower = true;
  bool transposed = false;
  bool unit_diagonal = false;
};
/// X with a X = b (left) or X a = b (right), or the same with aᵀ; only one triangle of `a` is read.
Tensor triangular_solve(Tensor a, Tensor b, TriangularOptions options = {});

/// `x` with zeros above (below) diagonal `k` (0: the main one, positive: above it).
Tensor lower_triangle(Tensor x, int64_t k = 0);
Tensor upper_triangle(Tensor x, int64_t k = 0);

}  // namespace pax
