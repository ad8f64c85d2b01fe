#include "pax/ops/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ir/graph.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

Dims kept_dims(const Shape& shape, const Dims& reduced) {
  Dims kept;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (std::ranges::find(reduced, i) == reduced.end()) kept.push_back(i);
  }
  return kept;
}

ResultTypes infer_reduce(const OpCall& call) {
  const Dims& reduced = call.attr<Dims>("dimensions");
  const Shape& shape = call.shape(0);
  Dims dims;
  for (const int64_t dim : kept_dims(shape, reduced)) dims.push_back(shape[dim]);
  if (static_cast<int64_t>(dims.size() + reduced.size()) != shape.rank()) {
    call.fail(
        fmt::format("dimensions [{}] are not distinct dimensions of {}", join(reduced, ","), to_string(call.type(0))));
  }
  return TensorType{call.type(0).dtype, Shape(std::move(dims))};
}

/// Operands: x, the initial value.
constinit const OpDef kReduceSum{
    .name = "reduce",
    .infer = infer_reduce,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      return {broadcast_in_dim(grad, call.shape(0), kept_dims(call.shape(0), call.attr<Dims>("dimensions")))};
    },
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      Dims dims;
      for (const int64_t dim : call.attr<Dims>("dimensions")) dims.push_back(dim + 1);
      return {reduce_sum(call.operand(0), dims)};
    }};

}  // namespace

Tensor reduce_sum(Tensor x, Dims dims) {
  for (int64_t& dim : dims) dim = dim < 0 ? dim + x.rank() : dim;
  if (dims.empty()) return x;
  std::ranges::sort(dims);
  const Tensor zero = full(x.graph(), {x.dtype(), {}}, 0);
  return emit(kReduceSum, {x, zero}, {{"combiner", Combiner{"add"}}, {"dimensions", std::move(dims)}});
}

}  // namespace pax
