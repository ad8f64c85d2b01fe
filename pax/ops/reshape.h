#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// The same elements in row-major order under another shape; one dimension may be -1: what is left.
Tensor reshape(Tensor x, const Shape& shape);

/// Dimension i of the result is dimension `permutation[i]` of `x`.
Tensor transpose(Tensor x, std::vector<int64_t> permutation);

/// `x` with a dimension of size 1 put in at `dim` (negative counts from the end of the result).
Tensor expand_dims(Tensor x, int64_t dim);

}  // namespace pax
