#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// `x` in `shape`: dimension i of `x` becomes dimension `dims[i]`, sizes 1 are repeated.
Tensor broadcast_in_dim(Tensor x, const Shape& shape, std::vector<int64_t> dims);

/// `x` repeated to `shape` by NumPy's rule: aligned at the last dimension, sizes 1 are repeated.
Tensor broadcast_to(Tensor x, const Shape& shape);

/// `x` repeated along a new first dimension.
Tensor repeat_in_front(Tensor x, int64_t size);

/// Both operands in their common shape by NumPy's rule. Throws ShapeError naming `op` and both shapes.
std::pair<Tensor, Tensor> broadcast_together(std::string_view op, Tensor a, Tensor b);

}  // namespace pax
