#include "pax/ops/reshape.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

constinit const OpDef kReshape{
    .name = "reshape",
    .infer = [](const OpCall& call) -> ResultTypes {
      const Shape shape(call.attr<Dims>("_shape"));
      const bool negative = std::ranges::any_of(shape, [](int64_t dim) { return dim < 0; });
      if (negative || !reasonable(to_vector(shape)) || shape.num_elements() != call.shape(0).num_elements()) {
        call.fail(fmt::format("{} has {} elements and does not go into shape {}", to_string(call.type(0)),
                              call.shape(0).num_elements(), to_string(shape)));
      }
      return TensorType{call.type(0).dtype, shape};
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {reshape(grad, call.shape(0))}; },
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      const int64_t size = call.shape(0)[0];
      return {reshape(call.operand(0), Shape(call.attr<Dims>("_shape")).prefixed(std::span(&size, 1)))};
    },
    .trait = OpTrait::kFree};

Dims inverse_permutation(const Dims& permutation) {
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  return inverse;
}

constinit const OpDef kTranspose{.name = "transpose",
                                 .infer = [](const OpCall& call) -> ResultTypes {
                                   const Dims& permutation = call.attr<Dims>("permutation");
                                   Dims sorted = permutation;
                                   std::ranges::sort(sorted);
                                   if (sorted != all_dims(call.shape(0).rank())) {
                                     call.fail(fmt::format("[{}] is no permutation of the dimensions of {}",
                                                           join(permutation, ","), to_string(call.type(0))));
                                   }
                                   Dims dims;
                                   for (const int64_t dim : permutation) dims.push_back(call.shape(0)[dim]);
                                   return TensorType{call.type(0).dtype, Shape(std::move(dims))};
                                 },
                                 .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                   return {transpose(grad, inverse_permutation(call.attr<Dims>("permutation")))};
                                 },
                                 .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
                                   Dims permutation{0};
                                   for (const int64_t dim : call.attr<Dims>("permutation"))
                                     permutation.push_back(dim + 1);
                                   return {transpose(call.operand(0), permutation)};
                                 }};

constexpr const OpDef* kOps[] = {&kReshape, &kTranspose};

}  // namespace

std::span<const OpDef* const> reshape_ops() { return kOps; }

Tensor reshape(Tensor x, const Shape& shape) {
  Dims dims = to_vector(shape);
  const auto open = std::ranges::find(dims, -1);
  if (open != dims.end() && reasonable(dims)) {
    int64_t rest = 1;
    for (const int64_t dim : dims) rest *= dim == -1 ? 1 : dim;
    *open = rest == 0 ? 0 : x.shape().num_elements() / rest;
  }
  if (x.shape() == Shape(dims)) return x;
  return emit(kReshape, {x}, {{"_shape", std::move(dims)}});
}

Tensor transpose(Tensor x, Dims permutation) {
  if (permutation == all_dims(x.rank())) return x;
  return emit(kTranspose, {x}, {{"permutation", std::move(permutation)}});
}

Tensor move_dim(Tensor x, int64_t from, int64_t to) {
  Dims dims = all_dims(x.rank());
  from = resolve_dim("move_dim", x, from);
  to = resolve_dim("move_dim", x, to);
  dims.erase(dims.begin() + from);
  dims.insert(dims.begin() + to, from);
  return transpose(x, std::move(dims));
}

Tensor swap_dims(Tensor x, int64_t a, int64_t b) {
  Dims dims = all_dims(x.rank());
  std::swap(dims[static_cast<size_t>(resolve_dim("swap_dims", x, a))],
            dims[static_cast<size_t>(resolve_dim("swap_dims", x, b))]);
  return transpose(x, std::move(dims));
}

Tensor expand_dims(Tensor x, int64_t dim) {
  const int64_t at = dim < 0 ? dim + x.rank() + 1 : dim;
  if (at < 0 || at > x.rank()) {
    fail_op(x.graph(), "expand_dims", fmt::format("{} has no place {} for a dimension", to_string(x.type()), dim));
  }
  Dims dims = to_vector(x.shape());
  dims.insert(dims.begin() + at, 1);
  return reshape(x, Shape(std::move(dims)));
}

Tensor squeeze(Tensor x, Dims dims) {
  dims = resolve_dims("squeeze", x, std::move(dims));
  Dims kept;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (!std::ranges::binary_search(dims, i)) {
      kept.push_back(x.dim(i));
    } else if (x.dim(i) != 1) {
      fail_op(x.graph(), "squeeze",
              fmt::format("dimension {} of {} is {}, only 1 can be left out", i, to_string(x.type()), x.dim(i)));
    }
  }
  return reshape(x, Shape(std::move(kept)));
}

Tensor merge_dims(Tensor x, int64_t first, int64_t last) {
  first = resolve_dim("merge_dims", x, first);
  last = resolve_dim("merge_dims", x, last);
  Dims dims;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i > first && i <= last) {
      dims.back() *= x.dim(i);
    } else {
      dims.push_back(x.dim(i));
    }
  }
  return reshape(x, Shape(std::move(dims)));
}

Tensor split_dim(Tensor x, int64_t dim, const Shape& sizes) {
  dim = resolve_dim("split_dim", x, dim);
  Dims inner = to_vector(sizes);
  const auto open = std::ranges::find(inner, -1);
  const bool sizes_ok = std::ranges::all_of(inner, [&](int64_t n) { return n >= -1 && n <= x.dim(dim); });
  if (sizes_ok && open != inner.end()) {
    *open = 1;
    const int64_t rest = Shape(inner).num_elements();
    *open = rest == 0 ? 0 : x.dim(dim) / rest;
  }
  if (!sizes_ok || Shape(inner).num_elements() != x.dim(dim)) {
    fail_op(x.graph(), "split_dim",
            fmt::format("dimension {} of {} is {} and cannot be split into {}", dim, to_string(x.type()), x.dim(dim),
                        to_string(sizes)));
  }
  Dims dims = to_vector(x.shape());
  dims.erase(dims.begin() + dim);
  dims.insert(dims.begin() + dim, inner.begin(), inner.end());
  return reshape(x, Shape(std::move(dims)));
}

}  // namespace pax
