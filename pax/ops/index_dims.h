#pragma once

#include "pax/ir/op.h"

namespace pax {

// What gather and scatter share: checks on their dimensions, and their forms for `take`, `take_along` and vmap.

bool contains(const std::vector<int64_t>& dims, int64_t dim);
/// All within 0 … rank - 1 and none twice.
bool are_dims(std::vector<int64_t> dims, int64_t rank);
/// The dimensions fit together and to an operand and indices of these shapes.
bool fit(const GatherDims& dims, const Shape& x, const Shape& indices);
Shape without_vector(const Shape& indices, int64_t vector_dim);

/// Of `take`: whole rows along `dim`, one for every id.
GatherDims take_dims(int64_t rank, int64_t ids_rank, int64_t dim);
/// Of `take_along`: all dimensions but `dim` shared.
GatherDims along_dims(int64_t rank, int64_t dim);

// With one more dimension, the batch, in front of: the indices, both, or the operand only.
GatherDims batch_indices(GatherDims dims);
GatherDims batch_both(GatherDims dims);
GatherDims batch_operand(GatherDims dims);

}  // namespace pax
