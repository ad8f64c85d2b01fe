#pragma once

#include "pax/ir/graph.h"

namespace pax {

/// The array itself, as a constant of the program.
Tensor constant(Graph& graph, HostArray value);

/// `value` in every element, rounded to `type`'s element type.
Tensor full(Graph& graph, TensorType type, double value);
Tensor full_like(Tensor like, double value);
Tensor zeros_like(Tensor like);

/// The scalars that leave every other unchanged under maximum and minimum: infinities where the type has them.
Tensor lowest(Graph& graph, DType dtype);
Tensor highest(Graph& graph, DType dtype);

/// 0, 1, 2, … along dimension `dim`.
Tensor iota(Graph& graph, TensorType type, int64_t dim);

}  // namespace pax
