#pragma once

#include "pax/ir/tensor.h"

namespace pax {

/// The orthogonal matrix (or the one with orthonormal rows or columns) nearest to each of the matrices in the last two
/// dimensions of `x`, by Newton's iteration x <- 1.5 x - 0.5 x x^T x. Of gaussian matrices it is uniform over all.
Tensor nearest_orthogonal(Tensor x, int iterations = 40);

/// A random orthogonal matrix in the last two dimensions, times max(1, sqrt(rows / columns)), in the middle of the
/// dimensions before them (at most three), 0 elsewhere (arXiv:1806.05393). `key` as in `initial_values`.
/// Throws ConfigError for more than five dimensions.
Tensor delta_orthogonal(Tensor key, const TensorType& type);

}  // namespace pax
