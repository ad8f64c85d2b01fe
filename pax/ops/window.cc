#include "pax/ops/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/region.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"
#include "pax/ops/select_and_scatter.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

int64_t dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : 1 + dilation * (size - 1); }

Attrs attrs_of(const Window& window) {
  return {{"window_dimensions", window.sizes},
          {"window_strides", window.strides},
          {"base_dilations", window.base_dilation},
          {"window_dilations", window.window_dilation},
          {"padding", PaddingPairs{window.padding}}};
}

Window window_of(const OpCall& call) {
  return {.sizes = call.attr<Dims>("window_dimensions"),
          .strides = call.attr<Dims>("window_strides"),
          .padding = call.attr<PaddingPairs>("padding").pairs,
          .base_dilation = call.attr<Dims>("base_dilations"),
          .window_dilation = call.attr<Dims>("window_dilations")};
}

Shape windowed_shape(const OpCall& call) {
  const Window window = window_of(call);
  const Shape& from = call.shape(0);
  const auto rank = static_cast<size_t>(from.rank());
  bool ok = window.sizes.size() == rank && window.strides.size() == rank && window.padding.size() == rank &&
            window.base_dilation.size() == rank && window.window_dilation.size() == rank && reasonable(window.sizes) &&
            reasonable(window.strides) && reasonable(window.base_dilation) && reasonable(window.window_dilation);
  for (const auto& [low, high] : window.padding) ok = ok && reasonable({low, high});
  Shape shape;
  for (size_t i = 0; ok && i < rank; ++i) {
    ok = window.sizes[i] > 0 && window.strides[i] > 0 && window.base_dilation[i] > 0 && window.window_dilation[i] > 0;
    if (!ok) break;
    const int64_t padded = dilated(from[static_cast<int64_t>(i)], window.base_dilation[i]) + window.padding[i].first +
                           window.padding[i].second;
    const int64_t reach = dilated(window.sizes[i], window.window_dilation[i]);
    ok = padded >= 0;
    shape.push_back(padded < reach ? 0 : (padded - reach) / window.strides[i] + 1);
  }
  if (!ok) {
    call.fail(fmt::format("a window of [{}] with strides [{}] does not fit {}: one positive number a dimension",
                          join(window.sizes, ","), join(window.strides, ","), to_string(call.type(0))));
  }
  return shape;
}

ResultTypes infer_window(const OpCall& call) { return TensorType{call.type(0).dtype, windowed_shape(call)}; }

std::vector<Tensor> batch_window(const OpCall& call, const std::vector<bool>&) {
  Window window = window_of(call);
  for (Dims* list : {&window.sizes, &window.strides, &window.base_dilation, &window.window_dilation}) {
    list->insert(list->begin(), 1);
  }
  window.padding.insert(window.padding.begin(), {0, 0});
  Attrs attrs = call.attrs;
  for (const auto& [name, value] : attrs_of(window)) attrs.set(name, value);
  return {emit(call.op, call.operands, std::move(attrs))};
}

/// Every result's gradient goes to all elements below its window: a sum over the reversed window of the spread
/// gradient.
Grads window_sum_vjp(const OpCall& call, Tensor grad) {
  const Window window = window_of(call);
  Dims low;
  Dims high;
  Dims interior;
  for (size_t i = 0; i < window.sizes.size(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    const int64_t reach = dilated(window.sizes[i], window.window_dilation[i]);
    low.push_back(reach - window.padding[i].first - 1);
    high.push_back(dilated(call.shape(0)[dim], window.base_dilation[i]) + reach - 1 -
                   dilated(grad.dim(dim), window.strides[i]) - low.back());
    interior.push_back(window.strides[i] - 1);
  }
  Window back = Window::of_rank(grad.rank());
  back.sizes = window.sizes;
  back.strides = window.base_dilation;
  back.window_dilation = window.window_dilation;
  return {reduce_window_sum(pad(grad, 0.0, low, high, interior), std::move(back))};
}

/// Operands: x, the initial value.
constinit const OpDef kWindowSum{
    .name = "reduce_window", .infer = infer_window, .vjp = window_sum_vjp, .batch = batch_window};

Grads window_extremum_vjp(const OpCall& call, Tensor grad, SelectBy by) {
  const Window window = window_of(call);
  const auto one = [](int64_t n) { return n == 1; };
  if (!std::ranges::all_of(window.base_dilation, one) || !std::ranges::all_of(window.window_dilation, one)) {
    call.fail("a dilated window of maxima or minima has no gradient; slice or pad instead");
  }
  return {select_and_scatter_add(call.operand(0), grad, window, by)};
}

constinit const OpDef kWindowMax{
    .name = "reduce_window",
    .infer = infer_window,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return window_extremum_vjp(call, grad, SelectBy::kMax); },
    .batch = batch_window};

constinit const OpDef kWindowMin{
    .name = "reduce_window",
    .infer = infer_window,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return window_extremum_vjp(call, grad, SelectBy::kMin); },
    .batch = batch_window};

Tensor reduce_window(const OpDef& op, std::string_view combiner, Tensor x, const Window& window, Tensor initial) {
  Attrs attrs = attrs_of(window);
  attrs.set("combiner", Combiner{combiner});
  return emit(op, {x, initial}, std::move(attrs));
}

Tensor selects(SelectBy by, Tensor a, Tensor b) { return by == SelectBy::kMax ? ge(a, b) : le(a, b); }
SelectBy select_by(const OpCall& call) { return call.attr<bool>("_max") ? SelectBy::kMax : SelectBy::kMin; }

Attrs without_dilation(const Window& window) {
  return {{"window_dimensions", window.sizes},
          {"window_strides", window.strides},
          {"padding", PaddingPairs{window.padding}}};
}

Window undilated_window_of(const OpCall& call) {
  Window window = Window::of_rank(call.shape(0).rank());
  window.sizes = call.attr<Dims>("window_dimensions");
  window.strides = call.attr<Dims>("window_strides");
  window.padding = call.attr<PaddingPairs>("padding").pairs;
  return window;
}

constinit const OpDef kSelectAndScatterRegion{.name = "select_and_scatter", .infer = same_as_operand};

/// Both operands with the batch in front.
std::vector<Tensor> batch_select(const OpCall& call, const std::vector<bool>& batched) {
  const int64_t size = call.shape(batched[0] ? 0 : 1)[0];
  const auto alike = [&](size_t i) { return batched[i] ? call.operand(i) : repeat_in_front(call.operand(i), size); };
  Attrs attrs = call.attrs;
  Dims sizes = call.attr<Dims>("window_dimensions");
  Dims strides = call.attr<Dims>("window_strides");
  PaddingPairs padding = call.attr<PaddingPairs>("padding");
  sizes.insert(sizes.begin(), 1);
  strides.insert(strides.begin(), 1);
  padding.pairs.insert(padding.pairs.begin(), {0, 0});
  attrs.set("window_dimensions", std::move(sizes));
  attrs.set("window_strides", std::move(strides));
  attrs.set("padding", std::move(padding));
  return {emit(call.op, {alike(0), alike(1)}, std::move(attrs))};
}

/// Operands: x, the source: one element for every place of the window.
constinit const OpDef kSelectAndScatterAdd{
    .name = "select_and_scatter_add",
    .infer = [](const OpCall& call) -> ResultTypes {
      require_same_dtype(call, 0, 1);
      return call.type(0);
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      return {Tensor(), select_and_gather(call.operand(0), grad, undilated_window_of(call), select_by(call))};
    },
    .batch = batch_select,
    .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
      const TensorType scalar{call.type(0).dtype, {}};
      const SelectBy by = select_by(call);
      const BlockId select = build_block(call.graph, {scalar, scalar}, [&](const std::vector<Tensor>& args) {
        return std::vector<Tensor>{selects(by, args[0], args[1])};
      });
      const BlockId scatter = build_block(call.graph, {scalar, scalar}, [&](const std::vector<Tensor>& args) {
        return std::vector<Tensor>{args[0] + args[1]};
      });
      const Tensor zero = full(call.graph, scalar, 0);
      return emit_all(call.graph, kSelectAndScatterRegion, {call.operand(0), call.operand(1), zero},
                      without_dilation(undilated_window_of(call)), {select, scatter});
    }};

constinit const OpDef kReduceWindowRegion{
    .name = "reduce_window", .infer = [](const OpCall& call) -> ResultTypes {
      const Shape shape = windowed_shape(call);
      return std::vector<TensorType>{{call.type(0).dtype, shape}, {call.type(1).dtype, shape}};
    }};

/// Operands: x and values of its shape; gives the values that stand where x is chosen. Linear in the values.
constinit const OpDef kSelectAndGather{
    .name = "select_and_gather",
    .infer = [](const OpCall& call) -> ResultTypes {
      same_as_operands(call);
      Attrs attrs = attrs_of(undilated_window_of(call));
      const OpCall widened{.graph = call.graph, .op = call.op, .operands = call.operands, .attrs = attrs};
      return TensorType{call.type(1).dtype, windowed_shape(widened)};
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      return {Tensor(), select_and_scatter_add(call.operand(0), grad, undilated_window_of(call), select_by(call))};
    },
    .batch = batch_select,
    .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
      const TensorType scalar{call.type(0).dtype, {}};
      const SelectBy by = select_by(call);
      const BlockId body =
          build_block(call.graph, {scalar, scalar, scalar, scalar}, [&](const std::vector<Tensor>& args) {
            const Tensor first = selects(by, args[0], args[2]);
            return std::vector<Tensor>{select(first, args[0], args[2]), select(first, args[1], args[3])};
          });
      const Tensor worst = by == SelectBy::kMax ? lowest(call.graph, scalar.dtype) : highest(call.graph, scalar.dtype);
      return {emit_all(call.graph, kReduceWindowRegion,
                       {call.operand(0), call.operand(1), worst, full(call.graph, scalar, 0)},
                       attrs_of(undilated_window_of(call)), {body})[1]};
    }};

constexpr const OpDef* kOps[] = {
    &kWindowSum,           &kWindowMax,          &kWindowMin,      &kSelectAndScatterRegion,
    &kSelectAndScatterAdd, &kReduceWindowRegion, &kSelectAndGather};

}  // namespace

std::span<const OpDef* const> window_ops() { return kOps; }

Window Window::of_rank(int64_t rank) {
  const Dims ones(static_cast<size_t>(rank), 1);
  return {.sizes = ones,
          .strides = ones,
          .padding = std::vector<std::pair<int64_t, int64_t>>(ones.size()),
          .base_dilation = ones,
          .window_dilation = ones};
}

Tensor reduce_window_sum(Tensor x, Window window) {
  return reduce_window(kWindowSum, "add", x, window, full(x.graph(), {x.dtype(), {}}, 0));
}

Tensor reduce_window_max(Tensor x, Window window) {
  return reduce_window(kWindowMax, "maximum", x, window, lowest(x.graph(), x.dtype()));
}

Tensor reduce_window_min(Tensor x, Window window) {
  return reduce_window(kWindowMin, "minimum", x, window, highest(x.graph(), x.dtype()));
}

Tensor select_and_scatter_add(Tensor x, Tensor source, const Window& window, SelectBy by) {
  Attrs attrs = without_dilation(window);
  attrs.set("_max", by == SelectBy::kMax);
  return emit(kSelectAndScatterAdd, {x, source}, std::move(attrs));
}

Tensor select_and_gather(Tensor x, Tensor values, const Window& window, SelectBy by) {
  Attrs attrs = without_dilation(window);
  attrs.set("_max", by == SelectBy::kMax);
  return emit(kSelectAndGather, {x, values}, std::move(attrs));
}

}  // namespace pax
