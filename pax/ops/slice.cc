#include "pax/ops/slice.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

Dims in_front(int64_t first, Dims rest) {
  rest.insert(rest.begin(), first);
  return rest;
}

ResultTypes infer_slice(const OpCall& call) {
  const Dims& starts = call.attr<Dims>("start_indices");
  const Dims& limits = call.attr<Dims>("limit_indices");
  const Dims& strides = call.attr<Dims>("strides");
  const Shape& from = call.shape(0);
  const auto rank = static_cast<size_t>(from.rank());
  bool ok = starts.size() == rank && limits.size() == rank && strides.size() == rank && reasonable(strides);
  Dims dims;
  for (size_t i = 0; ok && i < rank; ++i) {
    ok = 0 <= starts[i] && starts[i] <= limits[i] && limits[i] <= from[static_cast<int64_t>(i)] && strides[i] > 0;
    if (ok) dims.push_back((limits[i] - starts[i] + strides[i] - 1) / strides[i]);
  }
  if (!ok) {
    call.fail(fmt::format("[{}] to [{}] by [{}] is no part of {}", join(starts, ","), join(limits, ","),
                          join(strides, ","), to_string(call.type(0))));
  }
  return TensorType{call.type(0).dtype, Shape(std::move(dims))};
}

constinit const OpDef kSlice{.name = "slice",
                             .infer = infer_slice,
                             .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                               const Dims& starts = call.attr<Dims>("start_indices");
                               const Dims& strides = call.attr<Dims>("strides");
                               Dims high;
                               Dims interior;
                               for (size_t i = 0; i < starts.size(); ++i) {
                                 const auto dim = static_cast<int64_t>(i);
                                 const int64_t count = grad.dim(dim);
                                 const int64_t reached = starts[i] + (count == 0 ? 0 : (count - 1) * strides[i] + 1);
                                 high.push_back(call.shape(0)[dim] - reached);
                                 interior.push_back(strides[i] - 1);
                               }
                               return {pad(grad, 0.0, starts, std::move(high), std::move(interior))};
                             },
                             .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
                               return {slice(call.operand(0), in_front(0, call.attr<Dims>("start_indices")),
                                             in_front(call.shape(0)[0], call.attr<Dims>("limit_indices")),
                                             in_front(1, call.attr<Dims>("strides")))};
                             }};

ResultTypes infer_concatenate(const OpCall& call) {
  const int64_t dim = call.attr<int64_t>("dimension");
  Shape shape = call.shape(0);
  for (size_t i = 1; i < call.operands.size(); ++i) {
    require_same_dtype(call, 0, i);
    if (call.shape(i).rank() != shape.rank() || call.shape(i).without(dim) != call.shape(0).without(dim)) {
      call.fail(fmt::format("operand 0 is {} and operand {} is {}: they may differ in dimension {} only",
                            to_string(call.type(0)), i, to_string(call.type(i)), dim));
    }
    shape[dim] += call.shape(i)[dim];
  }
  return TensorType{call.type(0).dtype, shape};
}

constinit const OpDef kConcatenate{
    .name = "concatenate",
    .infer = infer_concatenate,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      const int64_t dim = call.attr<int64_t>("dimension");
      Grads grads;
      int64_t at = 0;
      for (size_t i = 0; i < call.operands.size(); ++i) {
        const int64_t size = call.shape(i)[dim];
        grads.push_back(call.wants(i) ? slice_dim(grad, dim, at, at + size) : Tensor());
        at += size;
      }
      return grads;
    },
    .batch = [](const OpCall& call, const std::vector<bool>& batched) -> std::vector<Tensor> {
      const auto first = static_cast<size_t>(std::ranges::find(batched, true) - batched.begin());
      std::vector<Tensor> parts = call.operands;
      for (size_t i = 0; i < parts.size(); ++i) {
        if (!batched[i]) parts[i] = repeat_in_front(parts[i], call.shape(first)[0]);
      }
      return {concatenate(std::move(parts), call.attr<int64_t>("dimension") + 1)};
    }};

/// Operands: x, the scalar to fill in.
ResultTypes infer_pad(const OpCall& call) {
  const Dims& low = call.attr<Dims>("edge_padding_low");
  const Dims& high = call.attr<Dims>("edge_padding_high");
  const Dims& interior = call.attr<Dims>("interior_padding");
  const auto rank = static_cast<size_t>(call.shape(0).rank());
  require_same_dtype(call, 0, 1);
  bool ok = low.size() == rank && high.size() == rank && interior.size() == rank && call.shape(1).rank() == 0 &&
            reasonable(low) && reasonable(high) && reasonable(interior);
  Dims dims;
  for (size_t i = 0; ok && i < rank; ++i) {
    const int64_t size = call.shape(0)[static_cast<int64_t>(i)];
    dims.push_back(low[i] + high[i] + size + std::max<int64_t>(size - 1, 0) * interior[i]);
    ok = dims.back() >= 0 && interior[i] >= 0;
  }
  if (!ok) {
    call.fail(fmt::format("{} cannot be padded by [{}] before, [{}] after and [{}] between with a value {}",
                          to_string(call.type(0)), join(low, ","), join(high, ","), join(interior, ","),
                          to_string(call.type(1))));
  }
  return TensorType{call.type(0).dtype, Shape(std::move(dims))};
}

Dims negated(Dims dims) {
  for (int64_t& dim : dims) dim = -dim;
  return dims;
}

/// What came from x is cut out of the gradient; the fill value gets the rest.
Grads pad_vjp(const OpCall& call, Tensor grad) {
  const Dims& interior = call.attr<Dims>("interior_padding");
  Dims strides;
  for (const int64_t between : interior) strides.push_back(between + 1);
  const Tensor unpadded =
      pad(grad, 0.0, negated(call.attr<Dims>("edge_padding_low")), negated(call.attr<Dims>("edge_padding_high")));
  const Tensor dx = slice(unpadded, Dims(interior.size(), 0), to_vector(unpadded.shape()), std::move(strides));
  return {dx, call.wants(1) ? reduce_sum(grad) - reduce_sum(dx) : Tensor()};
}

/// A fill value of its own for every element of the batch: pad a mask, then choose.
Tensor pad_batched_value(const OpCall& call, Tensor x) {
  const Dims low = in_front(0, call.attr<Dims>("edge_padding_low"));
  const Dims high = in_front(0, call.attr<Dims>("edge_padding_high"));
  const Dims interior = in_front(0, call.attr<Dims>("interior_padding"));
  const Tensor is_x = full(call.graph, {DType::kPred, x.shape()}, 1);
  const Tensor padded = pad(x, 0.0, low, high, interior);
  const Tensor mask = pad(is_x, 0.0, low, high, interior);
  return select(mask, padded, broadcast_in_dim(call.operand(1), padded.shape(), {0}));
}

constinit const OpDef kPadAsIs{.name = "pad", .infer = infer_pad};

/// XLA's partitioner aborts on pads that cut off a side and put space between elements: there the cut comes after.
std::vector<Tensor> lower_pad(const OpCall& call, const Target& target) {
  Dims low = call.attr<Dims>("edge_padding_low");
  Dims high = call.attr<Dims>("edge_padding_high");
  const Dims& interior = call.attr<Dims>("interior_padding");
  bool cut = false;
  for (size_t i = 0; i < low.size(); ++i) cut = cut || (interior[i] > 0 && (low[i] < 0 || high[i] < 0));
  if (!cut || !target.partitioned) return {emit(kPadAsIs, call.operands, call.attrs)};
  Dims starts(low.size(), 0);
  Dims limits = to_vector(call.results[0].shape());
  for (size_t i = 0; i < low.size(); ++i) {
    starts[i] = std::max<int64_t>(-low[i], 0);
    limits[i] += starts[i];
    low[i] = std::max<int64_t>(low[i], 0);
    high[i] = std::max<int64_t>(high[i], 0);
  }
  return {slice(pad(call.operand(0), call.operand(1), std::move(low), std::move(high), interior), std::move(starts),
                std::move(limits))};
}

constinit const OpDef kPad{
    .name = "pad",
    .infer = infer_pad,
    .vjp = pad_vjp,
    .batch = [](const OpCall& call, const std::vector<bool>& batched) -> std::vector<Tensor> {
      const Tensor x = batched[0] ? call.operand(0) : repeat_in_front(call.operand(0), call.shape(1)[0]);
      if (batched[1]) return {pad_batched_value(call, x)};
      return {pad(x, call.operand(1), in_front(0, call.attr<Dims>("edge_padding_low")),
                  in_front(0, call.attr<Dims>("edge_padding_high")), in_front(0, call.attr<Dims>("interior_padding")))};
    },
    .lower = lower_pad};

constinit const OpDef kReverse{
    .name = "reverse",
    .infer = same_as_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {reverse(grad, call.attr<Dims>("dimensions"))}; },
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      Dims dims = call.attr<Dims>("dimensions");
      for (int64_t& dim : dims) ++dim;
      return {reverse(call.operand(0), std::move(dims))};
    }};

constexpr const OpDef* kOps[] = {&kSlice, &kConcatenate, &kPadAsIs, &kPad, &kReverse};

}  // namespace

std::span<const OpDef* const> slice_ops() { return kOps; }

Tensor slice(Tensor x, Dims starts, Dims limits, Dims strides) {
  if (strides.empty()) strides.assign(starts.size(), 1);
  const bool all = limits == to_vector(x.shape()) && std::ranges::all_of(starts, [](int64_t s) { return s == 0; }) &&
                   std::ranges::all_of(strides, [](int64_t s) { return s == 1; });
  if (all && starts.size() == limits.size()) return x;
  return emit(
      kSlice, {x},
      {{"start_indices", std::move(starts)}, {"limit_indices", std::move(limits)}, {"strides", std::move(strides)}});
}

Tensor slice_dim(Tensor x, int64_t dim, int64_t start, int64_t limit, int64_t stride) {
  dim = resolve_dim("slice_dim", x, dim);
  Dims starts(static_cast<size_t>(x.rank()), 0);
  Dims limits = to_vector(x.shape());
  Dims strides(starts.size(), 1);
  const auto at = static_cast<size_t>(dim);
  starts[at] = start < 0 ? start + x.dim(dim) : start;
  limits[at] = limit < 0 ? limit + x.dim(dim) : limit;
  strides[at] = stride;
  return slice(x, std::move(starts), std::move(limits), std::move(strides));
}

Tensor index_dim(Tensor x, int64_t dim, int64_t i) {
  dim = resolve_dim("index_dim", x, dim);
  const int64_t at = i < 0 ? i + x.dim(dim) : i;
  return squeeze(slice_dim(x, dim, at, at + 1), {dim});
}

std::vector<Tensor> split(Tensor x, int64_t dim, int64_t parts) {
  dim = resolve_dim("split", x, dim);
  if (parts < 1 || parts > std::max<int64_t>(x.dim(dim), 1) || x.dim(dim) % parts != 0) {
    fail_op(x.graph(), "split",
            fmt::format("dimension {} of {} is {} and cannot be cut into {} equal parts", dim, to_string(x.type()),
                        x.dim(dim), parts));
  }
  return split(x, dim, Dims(static_cast<size_t>(parts), x.dim(dim) / parts));
}

std::vector<Tensor> split(Tensor x, int64_t dim, const Dims& sizes) {
  dim = resolve_dim("split", x, dim);
  int64_t total = 0;
  if (reasonable(sizes)) {
    for (const int64_t size : sizes) total += size;
  }
  if (total != x.dim(dim)) {
    fail_op(x.graph(), "split",
            fmt::format("dimension {} of {} is {}, but the parts [{}] add up to {}", dim, to_string(x.type()),
                        x.dim(dim), join(sizes, ","), total));
  }
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (const int64_t size : sizes) {
    parts.push_back(slice_dim(x, dim, at, at + size));
    at += size;
  }
  return parts;
}

Tensor concatenate(std::vector<Tensor> parts, int64_t dim) {
  if (parts.size() == 1) return parts[0];
  if (!parts.empty() && parts[0]) dim = resolve_dim("concatenate", parts[0], dim);
  return emit(kConcatenate, std::move(parts), {{"dimension", dim}});
}

Tensor stack(const std::vector<Tensor>& parts, int64_t dim) {
  std::vector<Tensor> expanded;
  for (const Tensor& part : parts) expanded.push_back(expand_dims(part, dim));
  return concatenate(std::move(expanded), dim);
}

Tensor pad(Tensor x, Tensor value, Dims low, Dims high, Dims interior) {
  if (interior.empty()) interior.assign(low.size(), 0);
  const auto none = [](const Dims& dims) { return std::ranges::all_of(dims, [](int64_t n) { return n == 0; }); };
  if (static_cast<int64_t>(low.size()) == x.rank() && none(low) && none(high) && none(interior)) return x;
  return emit(kPad, {x, value},
              {{"edge_padding_low", std::move(low)},
               {"edge_padding_high", std::move(high)},
               {"interior_padding", std::move(interior)}});
}

Tensor pad(Tensor x, double value, Dims low, Dims high, Dims interior) {
  return pad(x, full(x.graph(), {x.dtype(), {}}, value), std::move(low), std::move(high), std::move(interior));
}

Tensor pad_dim(Tensor x, int64_t dim, int64_t low, int64_t high, double value) {
  Dims lows(static_cast<size_t>(x.rank()), 0);
  Dims highs = lows;
  const auto at = static_cast<size_t>(resolve_dim("pad_dim", x, dim));
  lows[at] = low;
  highs[at] = high;
  return pad(x, value, std::move(lows), std::move(highs));
}

Tensor reverse(Tensor x, Dims dims) {
  dims = resolve_dims("reverse", x, std::move(dims));
  if (dims.empty()) return x;
  return emit(kReverse, {x}, {{"dimensions", std::move(dims)}});
}

}  // namespace pax
