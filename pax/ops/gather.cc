#include "pax/ops/gather.h"

#include <fmt/format.h>

#include "pax/base/text.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/index_dims.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

/// Operands: x, indices.
ResultTypes infer_gather(const OpCall& call) {
  const auto& dims = call.attr<GatherDims>("dimension_numbers");
  const Dims& sizes = call.attr<Dims>("slice_sizes");
  const Shape& x = call.shape(0);
  require_integer(call, 1);
  bool ok = fit(dims, x, call.shape(1)) && static_cast<int64_t>(sizes.size()) == x.rank();
  Dims windows;
  for (int64_t i = 0; ok && i < x.rank(); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    const bool dropped = contains(dims.collapsed, i) || contains(dims.operand_batch, i);
    ok = size >= 0 && size <= x[i] && (!dropped || size <= 1);
    if (!dropped) windows.push_back(size);
  }
  const Shape rows = ok ? without_vector(call.shape(1), dims.index_vector_dim) : Shape();
  const int64_t rank = rows.rank() + static_cast<int64_t>(windows.size());
  if (!ok || !are_dims(dims.window, rank)) {
    call.fail(fmt::format("slices [{}] of {} at indices {} do not fit the dimensions given", join(sizes, ","),
                          to_string(call.type(0)), to_string(call.type(1))));
  }
  Shape shape;
  size_t window = 0;
  int64_t row = 0;
  for (int64_t i = 0; i < rank; ++i) shape.push_back(contains(dims.window, i) ? windows[window++] : rows[row++]);
  return TensorType{call.type(0).dtype, shape};
}

constinit const OpDef kGather{
    .name = "gather",
    .infer = infer_gather,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      const Tensor zeros = full(call.graph, {grad.dtype(), call.shape(0)}, 0);
      return {scatter(zeros, call.operand(1), grad, {.dims = {call.attr<GatherDims>("dimension_numbers")}})};
    },
    .batch = [](const OpCall& call, const std::vector<bool>& batched) -> std::vector<Tensor> {
      const auto& dims = call.attr<GatherDims>("dimension_numbers");
      Dims sizes = call.attr<Dims>("slice_sizes");
      if (!batched[0]) return {gather(call.operand(0), call.operand(1), batch_indices(dims), std::move(sizes))};
      sizes.insert(sizes.begin(), batched[1] ? 1 : call.shape(0)[0]);
      return {gather(call.operand(0), call.operand(1), batched[1] ? batch_both(dims) : batch_operand(dims),
                     std::move(sizes))};
    }};

constexpr const OpDef* kOps[] = {&kGather};

}  // namespace

std::span<const OpDef* const> gather_ops() { return kOps; }

Tensor gather(Tensor x, Tensor indices, GatherDims dims, Dims slice_sizes) {
  return emit(
      kGather, {x, indices},
      {{"dimension_numbers", std::move(dims)}, {"slice_sizes", std::move(slice_sizes)}, {"indices_are_sorted", false}});
}

Tensor take(Tensor x, Tensor ids, int64_t dim) {
  dim = resolve_dim("take", x, dim);
  Dims sizes = to_vector(x.shape());
  sizes[static_cast<size_t>(dim)] = 1;
  return gather(x, ids, take_dims(x.rank(), ids.rank(), dim), std::move(sizes));
}

Tensor take_along(Tensor x, Tensor ids, int64_t dim) {
  dim = resolve_dim("take_along", x, dim);
  if (ids.rank() != x.rank()) {
    fail_op(
        x.graph(), "take_along",
        fmt::format("{} and the ids {} must have equally many dimensions", to_string(x.type()), to_string(ids.type())));
  }
  Shape shape = x.shape();
  shape[dim] = ids.dim(dim);
  return gather(x, broadcast_to(ids, shape), along_dims(x.rank(), dim), Dims(static_cast<size_t>(x.rank()), 1));
}

Tensor one_hot(Tensor ids, int64_t size, DType dtype, int64_t dim) {
  const Tensor column = expand_dims(ids, dim);
  const int64_t at = dim < 0 ? dim + column.rank() : dim;
  Shape shape = column.shape();
  shape[at] = size;
  return convert(eq(broadcast_to(column, shape), iota(ids.graph(), {ids.dtype(), shape}, at)), dtype);
}

}  // namespace pax
