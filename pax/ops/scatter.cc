#include <fmt/format.h>

#include <algorithm>

#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/index_dims.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

std::string_view combiner_name(Scatter kind) {
  switch (kind) {
    case Scatter::kAdd:
      return "add";
    case Scatter::kReplace:
      return "second";
    case Scatter::kMultiply:
      return "multiply";
    case Scatter::kMinimum:
      return "minimum";
    case Scatter::kMaximum:
      return "maximum";
  }
  return "add";
}

/// Operands: x, indices, updates.
ResultTypes infer_scatter(const OpCall& call) {
  const auto& dims = call.attr<ScatterDims>("scatter_dimension_numbers");
  const Shape& x = call.shape(0);
  const Shape& updates = call.shape(2);
  require_integer(call, 1);
  require_same_dtype(call, 0, 2);
  bool ok = fit(dims, x, call.shape(1)) && are_dims(dims.window, updates.rank());
  if (ok) {
    const Shape rows = without_vector(call.shape(1), dims.index_vector_dim);
    ok = updates.rank() == rows.rank() + static_cast<int64_t>(dims.window.size());
    int64_t row = 0;
    for (int64_t i = 0; ok && i < updates.rank(); ++i) ok = contains(dims.window, i) || updates[i] == rows[row++];
    size_t window = 0;
    for (int64_t i = 0; ok && i < x.rank(); ++i) {
      if (contains(dims.collapsed, i) || contains(dims.operand_batch, i)) continue;
      ok = updates[dims.window[window++]] <= x[i];
    }
  }
  if (!ok) {
    call.fail(fmt::format("updates {} at indices {} do not fit {} with the dimensions given", to_string(call.type(2)),
                          to_string(call.type(1)), to_string(call.type(0))));
  }
  return call.type(0);
}

/// Sizes of the slice of x that one index vector names.
Dims slice_sizes_of(const OpCall& call) {
  const auto& dims = call.attr<ScatterDims>("scatter_dimension_numbers");
  Dims sizes;
  size_t window = 0;
  for (int64_t i = 0; i < call.shape(0).rank(); ++i) {
    const bool dropped = contains(dims.collapsed, i) || contains(dims.operand_batch, i);
    sizes.push_back(dropped ? 1 : call.shape(2)[dims.window[window++]]);
  }
  return sizes;
}

/// Which updates are not dropped, in the shape of the updates.
Tensor in_range(const OpCall& call, const Dims& sizes) {
  const auto& dims = call.attr<ScatterDims>("scatter_dimension_numbers");
  const Tensor indices = call.operand(1);
  std::vector<double> last;
  for (const int64_t dim : dims.index_map) {
    last.push_back(static_cast<double>(call.shape(0)[dim] - sizes[static_cast<size_t>(dim)]));
  }
  const bool vectors = dims.index_vector_dim < indices.rank();
  Tensor limit = constant(call.graph, from_doubles(last, {indices.dtype(), {static_cast<int64_t>(last.size())}}));
  limit = vectors ? broadcast_in_dim(limit, indices.shape(), {dims.index_vector_dim})
                  : broadcast_to(reshape(limit, {}), indices.shape());
  Tensor inside = le(indices, limit);
  if (is_signed(indices.dtype())) inside = logical_and(ge(indices, 0.0), inside);
  if (vectors) inside = reduce_and(inside, {dims.index_vector_dim});
  Dims rows;
  for (int64_t i = 0; i < call.shape(2).rank(); ++i) {
    if (!contains(dims.window, i)) rows.push_back(i);
  }
  return broadcast_in_dim(inside, call.shape(2), std::move(rows));
}

/// The slices of `from` (of x's shape) that the updates went to; 0 for those that were dropped.
Tensor gather_back(const OpCall& call, Tensor from) {
  const Dims sizes = slice_sizes_of(call);
  const Tensor slices = gather(from, call.operand(1), call.attr<ScatterDims>("scatter_dimension_numbers"), sizes);
  return select(in_range(call, sizes), slices, 0.0);
}

Tensor scatter_like(const OpCall& call, Tensor x, Tensor updates, Scatter kind) {
  return scatter(x, call.operand(1), updates,
                 {.kind = kind,
                  .dims = call.attr<ScatterDims>("scatter_dimension_numbers"),
                  .unique = call.attr<bool>("unique_indices"),
                  .sorted = call.attr<bool>("indices_are_sorted")});
}

/// The batch is a window dimension of operand and updates, or, where the indices have it too, shared by all three.
std::vector<Tensor> batch_scatter(const OpCall& call, const std::vector<bool>& batched) {
  const auto first = static_cast<size_t>(std::ranges::find(batched, true) - batched.begin());
  const int64_t size = call.shape(first)[0];
  const auto& dims = call.attr<ScatterDims>("scatter_dimension_numbers");
  const auto alike = [&](size_t i) { return batched[i] ? call.operand(i) : repeat_in_front(call.operand(i), size); };
  Attrs attrs = call.attrs;
  attrs.set("scatter_dimension_numbers", ScatterDims{batched[1] ? batch_both(dims) : batch_operand(dims)});
  return {emit(call.op, {alike(0), call.operand(1), alike(2)}, std::move(attrs))};
}

constinit const OpDef kScatterAdd{.name = "scatter",
                                  .infer = infer_scatter,
                                  .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                    return {grad, Tensor(), call.wants(2) ? gather_back(call, grad) : Tensor()};
                                  },
                                  .batch = batch_scatter};

/// Which updates are in the result: every one writes its number, and looks whose is there.
Tensor is_winner(const OpCall& call) {
  const Shape& shape = call.shape(2);
  const Tensor numbers = reshape(iota(call.graph, {DType::kS32, {shape.num_elements()}}, 0), shape) + 1.0;
  const Tensor nobody = full(call.graph, {DType::kS32, call.shape(0)}, 0);
  return eq(gather_back(call, scatter_like(call, nobody, numbers, Scatter::kReplace)), numbers);
}

constinit const OpDef kScatterReplace{
    .name = "scatter",
    .infer = infer_scatter,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      const Tensor kept = scatter_like(call, grad, zeros_like(call.operand(2)), Scatter::kReplace);
      if (!call.wants(2)) return {kept};
      const Tensor back = gather_back(call, grad);
      return {kept, Tensor(), call.attr<bool>("unique_indices") ? back : select(is_winner(call), back, 0.0)};
    },
    .batch = batch_scatter};

constinit const OpDef kScatterMultiply{
    .name = "scatter",
    .infer = infer_scatter,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      if (call.wants(2) && !call.attr<bool>("unique_indices")) {
        call.fail("updates multiplied in have a gradient only if no element is written twice; promise it by `unique`");
      }
      const Tensor factor = scatter_like(call, full_like(grad, 1), call.operand(2), Scatter::kMultiply);
      return {grad * factor, Tensor(), call.wants(2) ? gather_back(call, grad * call.operand(0)) : Tensor()};
    },
    .batch = batch_scatter};

/// Of minimum and maximum: shared evenly by all that equal the result.
Grads extremum_vjp(const OpCall& call, Tensor grad) {
  const DType dtype = grad.dtype();
  const Tensor from_x = convert(eq(call.operand(0), call.output()), dtype);
  const Tensor from_update = convert(eq(call.operand(2), gather_back(call, call.output())), dtype);
  const Tensor share = grad / scatter_like(call, from_x, from_update, Scatter::kAdd);
  return {from_x * share, Tensor(), call.wants(2) ? from_update * gather_back(call, share) : Tensor()};
}

constinit const OpDef kScatterMinimum{
    .name = "scatter", .infer = infer_scatter, .vjp = extremum_vjp, .batch = batch_scatter};
constinit const OpDef kScatterMaximum{
    .name = "scatter", .infer = infer_scatter, .vjp = extremum_vjp, .batch = batch_scatter};

const OpDef& op_of(Scatter kind) {
  switch (kind) {
    case Scatter::kAdd:
      return kScatterAdd;
    case Scatter::kReplace:
      return kScatterReplace;
    case Scatter::kMultiply:
      return kScatterMultiply;
    case Scatter::kMinimum:
      return kScatterMinimum;
    case Scatter::kMaximum:
      return kScatterMaximum;
  }
  return kScatterAdd;
}

constexpr const OpDef* kOps[] = {&kScatterAdd, &kScatterReplace, &kScatterMultiply, &kScatterMinimum, &kScatterMaximum};

}  // namespace

std::span<const OpDef* const> scatter_ops() { return kOps; }

Tensor scatter(Tensor x, Tensor indices, Tensor updates, ScatterOptions options) {
  return emit(op_of(options.kind), {x, indices, updates},
              {{"combiner", Combiner{combiner_name(options.kind)}},
               {"scatter_dimension_numbers", std::move(options.dims)},
               {"indices_are_sorted", options.sorted},
               {"unique_indices", options.unique}});
}

Tensor scatter_at(Tensor x, Tensor ids, Tensor updates, int64_t dim, Scatter kind) {
  dim = resolve_dim("scatter_at", x, dim);
  return scatter(x, ids, updates, {.kind = kind, .dims = {take_dims(x.rank(), ids.rank(), dim)}});
}

Tensor scatter_along(Tensor x, Tensor ids, Tensor updates, int64_t dim, Scatter kind) {
  dim = resolve_dim("scatter_along", x, dim);
  return scatter(x, ids, updates, {.kind = kind, .dims = {along_dims(x.rank(), dim)}});
}

}  // namespace pax
