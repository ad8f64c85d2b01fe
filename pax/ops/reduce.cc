#include "pax/ops/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

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

/// Operands: x, the initial value.
ResultTypes infer_reduce(const OpCall& call) {
  const Dims& reduced = call.attr<Dims>("dimensions");
  Dims dims;
  for (const int64_t dim : kept_dims(call.shape(0), reduced)) dims.push_back(call.shape(0)[dim]);
  if (static_cast<int64_t>(dims.size() + reduced.size()) != call.shape(0).rank()) {
    call.fail(
        fmt::format("dimensions [{}] are not distinct dimensions of {}", join(reduced, ","), to_string(call.type(0))));
  }
  return TensorType{call.type(0).dtype, Shape(std::move(dims))};
}

ResultTypes infer_logical(const OpCall& call) {
  if (is_floating(call.type(0).dtype)) {
    call.fail(fmt::format("operand 0 is {}, but must be bool; compare it first", to_string(call.type(0))));
  }
  return infer_reduce(call);
}

Tensor spread(const OpCall& call, Tensor reduced) {
  return broadcast_in_dim(reduced, call.shape(0), kept_dims(call.shape(0), call.attr<Dims>("dimensions")));
}

/// The same reduction with every dimension one further back.
std::vector<Tensor> batch_reduce(const OpCall& call, const std::vector<bool>&) {
  Attrs attrs = call.attrs;
  Dims dims = call.attr<Dims>("dimensions");
  for (int64_t& dim : dims) ++dim;
  attrs.set("dimensions", std::move(dims));
  return {emit(call.op, call.operands, std::move(attrs))};
}

constinit const OpDef kReduceSum{.name = "reduce",
                                 .infer = infer_reduce,
                                 .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {spread(call, grad)}; },
                                 .batch = batch_reduce};

Grads extremum_vjp(const OpCall& call, Tensor grad) {
  const Tensor is_it = convert(eq(call.operand(0), spread(call, call.output())), grad.dtype());
  const Tensor count = reduce_sum(is_it, call.attr<Dims>("dimensions"));
  return {is_it * spread(call, grad / count)};
}

constinit const OpDef kReduceMax{.name = "reduce", .infer = infer_reduce, .vjp = extremum_vjp, .batch = batch_reduce};
constinit const OpDef kReduceMin{.name = "reduce", .infer = infer_reduce, .vjp = extremum_vjp, .batch = batch_reduce};
constinit const OpDef kReduceAnd{.name = "reduce", .infer = infer_logical, .batch = batch_reduce};
constinit const OpDef kReduceOr{.name = "reduce", .infer = infer_logical, .batch = batch_reduce};

Tensor reduce(const OpDef& op, std::string_view combiner, Tensor x, Dims dims, Tensor initial) {
  return emit(op, {x, initial}, {{"combiner", Combiner{combiner}}, {"dimensions", std::move(dims)}});
}

Tensor restore(Tensor x, Tensor reduced, const Dims& dims, Reduced how) {
  if (how == Reduced::kDropped) return reduced;
  Dims shape = to_vector(x.shape());
  for (const int64_t dim : dims) shape[static_cast<size_t>(dim)] = 1;
  return reshape(reduced, Shape(std::move(shape)));
}

Tensor at_least_f32(Tensor x) { return byte_size(x.dtype()) < 4 ? convert(x, DType::kF32) : x; }

constexpr const OpDef* kOps[] = {&kReduceSum, &kReduceMax, &kReduceMin, &kReduceAnd, &kReduceOr};

}  // namespace

std::span<const OpDef* const> reduce_ops() { return kOps; }

Tensor reduce_sum(Tensor x, Dims dims, Reduced reduced) {
  dims = resolve_dims("reduce_sum", x, std::move(dims));
  if (dims.empty()) return x;
  const Tensor wide = is_floating(x.dtype()) ? at_least_f32(x) : x;
  const Tensor zero = full(x.graph(), {wide.dtype(), {}}, 0);
  return restore(x, convert(reduce(kReduceSum, "add", wide, dims, zero), x.dtype()), dims, reduced);
}

Tensor reduce_mean(Tensor x, Dims dims, Reduced reduced) {
  dims = resolve_dims("reduce_mean", x, std::move(dims));
  int64_t count = 1;
  for (const int64_t dim : dims) count *= x.dim(dim);
  const Tensor wide = is_floating(x.dtype()) ? at_least_f32(x) : x;
  return convert(reduce_sum(wide, dims, reduced) / static_cast<double>(count), x.dtype());
}

Tensor reduce_max(Tensor x, Dims dims, Reduced reduced) {
  dims = resolve_dims("reduce_max", x, std::move(dims));
  if (dims.empty()) return x;
  return restore(x, reduce(kReduceMax, "maximum", x, dims, lowest(x.graph(), x.dtype())), dims, reduced);
}

Tensor reduce_min(Tensor x, Dims dims, Reduced reduced) {
  dims = resolve_dims("reduce_min", x, std::move(dims));
  if (dims.empty()) return x;
  return restore(x, reduce(kReduceMin, "minimum", x, dims, highest(x.graph(), x.dtype())), dims, reduced);
}

Tensor reduce_and(Tensor x, Dims dims, Reduced reduced) {
  dims = resolve_dims("reduce_and", x, std::move(dims));
  if (dims.empty()) return x;
  return restore(x, reduce(kReduceAnd, "and", x, dims, full(x.graph(), {x.dtype(), {}}, 1)), dims, reduced);
}

Tensor reduce_or(Tensor x, Dims dims, Reduced reduced) {
  dims = resolve_dims("reduce_or", x, std::move(dims));
  if (dims.empty()) return x;
  return restore(x, reduce(kReduceOr, "or", x, dims, full(x.graph(), {x.dtype(), {}}, 0)), dims, reduced);
}

Tensor reduce_sum(Tensor x) { return reduce_sum(x, all_dims(x.rank())); }
Tensor reduce_mean(Tensor x) { return reduce_mean(x, all_dims(x.rank())); }
Tensor reduce_max(Tensor x) { return reduce_max(x, all_dims(x.rank())); }
Tensor reduce_min(Tensor x) { return reduce_min(x, all_dims(x.rank())); }

}  // namespace pax
