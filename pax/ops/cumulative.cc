#include "pax/ops/cumulative.h"

#include <algorithm>

#include "pax/ops/all_ops.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/window.h"

namespace pax {
namespace {

/// Hillis and Steele: each pass combines every element with the one 1, 2, 4, … places before it.
template <class Combine>
Tensor scan_by_doubling(Tensor x, int64_t dim, Direction direction, Tensor neutral, Combine combine) {
  const int64_t size = x.dim(dim);
  std::vector<int64_t> low(static_cast<size_t>(x.rank()), 0);
  std::vector<int64_t> high = low;
  for (int64_t step = 1; step < size; step *= 2) {
    const int64_t sign = direction == Direction::kForward ? 1 : -1;
    low[static_cast<size_t>(dim)] = sign * step;
    high[static_cast<size_t>(dim)] = -sign * step;
    x = combine(pad(x, neutral, low, high), x);
  }
  return x;
}

Direction direction_of(const OpCall& call) {
  return call.attr<bool>("_reverse") ? Direction::kReverse : Direction::kForward;
}

/// XLA for TPU knows a sum over a growing window and makes it fast; elsewhere that form takes quadratic time.
Tensor lower_cumsum(Tensor x, int64_t dim, Direction direction, const Target& target) {
  const int64_t size = x.dim(dim);
  if (target.platform != Target::Platform::kTpu || size == 0) {
    const Tensor zero = full(x.graph(), {x.dtype(), {}}, 0);
    return scan_by_doubling(x, dim, direction, zero, [](Tensor a, Tensor b) { return a + b; });
  }
  Window window = Window::of_rank(x.rank());
  const auto at = static_cast<size_t>(dim);
  window.sizes[at] = size;
  window.padding[at] =
      direction == Direction::kForward ? std::pair{size - 1, int64_t{0}} : std::pair{int64_t{0}, size - 1};
  return reduce_window_sum(x, window);
}

constinit const OpDef kCumsum{
    .name = "cumsum",
    .infer = numeric_operands,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      const bool reverse = direction_of(call) == Direction::kReverse;
      return {cumsum(grad, call.attr<int64_t>("_dim"), reverse ? Direction::kForward : Direction::kReverse)};
    },
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      return {cumsum(call.operand(0), call.attr<int64_t>("_dim") + 1, direction_of(call))};
    },
    .lower = [](const OpCall& call, const Target& target) -> std::vector<Tensor> {
      return {lower_cumsum(call.operand(0), call.attr<int64_t>("_dim"), direction_of(call), target)};
    }};

constexpr const OpDef* kOps[] = {&kCumsum};

}  // namespace

std::span<const OpDef* const> cumulative_ops() { return kOps; }

Tensor cumsum(Tensor x, int64_t dim, Direction direction) {
  dim = resolve_dim("cumsum", x, dim);
  return emit(kCumsum, {x}, {{"_dim", dim}, {"_reverse", direction == Direction::kReverse}});
}

Tensor cumprod(Tensor x, int64_t dim, Direction direction) {
  dim = resolve_dim("cumprod", x, dim);
  const Tensor one = full(x.graph(), {x.dtype(), {}}, 1);
  return scan_by_doubling(x, dim, direction, one, [](Tensor a, Tensor b) { return a * b; });
}

Tensor cummax(Tensor x, int64_t dim, Direction direction) {
  dim = resolve_dim("cummax", x, dim);
  const Tensor least = lowest(x.graph(), x.dtype());
  return scan_by_doubling(x, dim, direction, least, [](Tensor a, Tensor b) { return maximum(a, b); });
}

Tensor cummin(Tensor x, int64_t dim, Direction direction) {
  dim = resolve_dim("cummin", x, dim);
  const Tensor most = highest(x.graph(), x.dtype());
  return scan_by_doubling(x, dim, direction, most, [](Tensor a, Tensor b) { return minimum(a, b); });
}

Tensor cumlogsumexp(Tensor x, int64_t dim, Direction direction) {
  dim = resolve_dim("cumlogsumexp", x, dim);
  const Tensor least = lowest(x.graph(), x.dtype());
  return scan_by_doubling(x, dim, direction, least, [](Tensor a, Tensor b) { return logaddexp(a, b); });
}

/// Halves are multiplied until one is left: the gradient is right where elements are 0.
Tensor reduce_prod(Tensor x, std::vector<int64_t> dims, Reduced reduced) {
  dims = resolve_dims("reduce_prod", x, std::move(dims));
  std::vector<int64_t> order;
  int64_t count = 1;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (!std::ranges::binary_search(dims, i)) order.push_back(i);
  }
  std::vector<int64_t> shape;
  for (const int64_t dim : order) shape.push_back(x.dim(dim));
  for (const int64_t dim : dims) count *= x.dim(dim);
  order.insert(order.end(), dims.begin(), dims.end());
  std::vector<int64_t> flat = shape;
  flat.push_back(count);
  Tensor rest = reshape(transpose(x, order), Shape(flat));
  if (count == 0) rest = pad_dim(rest, -1, 0, 1, 1);
  while (rest.dim(-1) > 1) {
    if (rest.dim(-1) % 2 == 1) rest = pad_dim(rest, -1, 0, 1, 1);
    const std::vector<Tensor> halves = split(rest, -1, 2);
    rest = halves[0] * halves[1];
  }
  if (reduced == Reduced::kDropped) return reshape(rest, Shape(shape));
  std::vector<int64_t> kept = to_vector(x.shape());
  for (const int64_t dim : dims) kept[static_cast<size_t>(dim)] = 1;
  return reshape(rest, Shape(kept));
}

}  // namespace pax
