#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

// Parts of arrays, and arrays put together. Dimensions may count from the end.

/// Elements `starts[i]`, `starts[i] + strides[i]`, … below `limits[i]` of every dimension. No strides: all 1.
Tensor slice(Tensor x, std::vector<int64_t> starts, std::vector<int64_t> limits, std::vector<int64_t> strides = {});

/// The same of one dimension; negative `start` and `limit` count from its end.
Tensor slice_dim(Tensor x, int64_t dim, int64_t start, int64_t limit, int64_t stride = 1);
/// Element `i` of dimension `dim`, which disappears.
Tensor index_dim(Tensor x, int64_t dim, int64_t i);

/// `parts` equal parts along `dim`, or parts of the sizes given, which must add up.
std::vector<Tensor> split(Tensor x, int64_t dim, int64_t parts);
std::vector<Tensor> split(Tensor x, int64_t dim, const std::vector<int64_t>& sizes);

Tensor concatenate(std::vector<Tensor> parts, int64_t dim);
/// The parts along a new dimension `dim` of the result.
Tensor stack(const std::vector<Tensor>& parts, int64_t dim);

/// `x` with `low[i]` elements of `value` (a scalar) before, `high[i]` after and `interior[i]` between elements of
/// dimension i. Negative `low` and `high` cut off. No interior: all 0.
Tensor pad(Tensor x, Tensor value, std::vector<int64_t> low, std::vector<int64_t> high,
           std::vector<int64_t> interior = {});
Tensor pad(Tensor x, double value, std::vector<int64_t> low, std::vector<int64_t> high,
           std::vector<int64_t> interior = {});
/// The same of one dimension, without interior.
Tensor pad_dim(Tensor x, int64_t dim, int64_t low, int64_t high, double value = 0);

Tensor reverse(Tensor x, std::vector<int64_t> dims);

/// `sizes` elements from `starts` on (integer scalars, one a dimension); starts are held so that the slice fits.
Tensor dynamic_slice(Tensor x, std::vector<Tensor> starts, std::vector<int64_t> sizes);
/// The same of one dimension.
Tensor dynamic_slice_dim(Tensor x, int64_t dim, Tensor start, int64_t size);
/// Element `i` of dimension `dim`, which disappears.
Tensor dynamic_index(Tensor x, int64_t dim, Tensor i);

/// `x` with `update` written over the part that begins at `starts`; starts are held so that it fits.
Tensor dynamic_update_slice(Tensor x, Tensor update, std::vector<Tensor> starts);
/// The same where only dimension `dim` does not begin at 0.
Tensor dynamic_update_slice_dim(Tensor x, Tensor update, int64_t dim, Tensor start);

}  // namespace pax
