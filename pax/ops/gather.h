#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// StableHLO's gather: slices of `slice_sizes` of `x`, one for every index vector of `indices`, which are held so that
/// the slice fits. The gradient goes back where it came from; that of indices out of range is dropped.
Tensor gather(Tensor x, Tensor indices, GatherDims dims, std::vector<int64_t> slice_sizes);

/// How a scatter combines an update with what is there.
enum class Scatter : uint8_t { kAdd, kReplace, kMultiply, kMinimum, kMaximum };

struct ScatterOptions {
  Scatter kind = Scatter::kAdd;
  ScatterDims dims;
  /// No element is written twice: promised by the caller, needed for the gradients of kReplace and kMultiply.
  bool unique = false;
  bool sorted = false;
};

/// StableHLO's scatter: `x` with `updates` combined into the slices that `indices` name; those out of range are
/// dropped.
Tensor scatter(Tensor x, Tensor indices, Tensor updates, ScatterOptions options);

/// `x` at `ids` (integers) along `dim`: shape x[:dim] + ids + x[dim+1:]. Ids out of range read the nearest element and
/// pass no gradient back.
Tensor take(Tensor x, Tensor ids, int64_t dim);

/// out[i, j, …] = x[i, ids[i, j, …], …] with `ids` in dimension `dim`; the other dimensions of both are equal, or 1 in
/// `ids`. NumPy's take_along_axis.
Tensor take_along(Tensor x, Tensor ids, int64_t dim);

/// `x` with `updates` combined at `ids` along `dim`: the reverse of `take`. Ids out of range are dropped.
Tensor scatter_at(Tensor x, Tensor ids, Tensor updates, int64_t dim, Scatter kind = Scatter::kAdd);

/// The reverse of `take_along`; `ids` and `updates` have one shape.
Tensor scatter_along(Tensor x, Tensor ids, Tensor updates, int64_t dim, Scatter kind = Scatter::kAdd);

/// 1 where an id equals its place along a new dimension `dim` of `size`, else 0; all 0 for ids out of range.
Tensor one_hot(Tensor ids, int64_t size, DType dtype, int64_t dim = -1);

}  // namespace pax
