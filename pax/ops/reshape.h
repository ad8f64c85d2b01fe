#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

// The same elements under another shape. Negative dimensions count from the end.

/// The same elements in row-major order under another shape; one dimension may be -1: what is left.
Tensor reshape(Tensor x, const Shape& shape);

/// Dimension i of the result is dimension `permutation[i]` of `x`.
Tensor transpose(Tensor x, std::vector<int64_t> permutation);

/// Dimension `from` put at place `to`, the others in their order.
Tensor move_dim(Tensor x, int64_t from, int64_t to);
Tensor swap_dims(Tensor x, int64_t a, int64_t b);

/// `x` with a dimension of size 1 put in at `dim` (negative counts from the end of the result).
Tensor expand_dims(Tensor x, int64_t dim);
/// `x` without the dimensions `dims`, which must be of size 1.
Tensor squeeze(Tensor x, std::vector<int64_t> dims);

/// Dimensions `first` to `last` as one.
Tensor merge_dims(Tensor x, int64_t first, int64_t last);
/// Dimension `dim` as several of `sizes`, one of which may be -1.
Tensor split_dim(Tensor x, int64_t dim, const Shape& sizes);

}  // namespace pax
