#include "pax/ops/broadcast.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/ir/graph.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/reduce.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

Grads broadcast_vjp(const OpCall& call, Tensor grad) {
  const Dims& dims = call.attr<Dims>("broadcast_dimensions");
  const Shape& from = call.shape(0);
  Dims summed;
  for (int64_t i = 0; i < grad.rank(); ++i) {
    const auto at = std::ranges::find(dims, i);
    const bool repeated = at != dims.end() && from[at - dims.begin()] == 1 && grad.dim(i) != 1;
    if (at == dims.end() || repeated) summed.push_back(i);
  }
  return {reshape(summed.empty() ? grad : reduce_sum(grad, summed), from)};
}

constinit const OpDef kBroadcastInDim{
    .name = "broadcast_in_dim",
    .infer = [](const OpCall& call) -> ResultTypes {
      const Shape shape(call.attr<Dims>("_shape"));
      const Dims& dims = call.attr<Dims>("broadcast_dimensions");
      const Shape& from = call.shape(0);
      bool ok = static_cast<int64_t>(dims.size()) == from.rank();
      for (int64_t i = 0; ok && i < from.rank(); ++i) {
        const int64_t to = dims[static_cast<size_t>(i)];
        ok = to >= 0 && to < shape.rank() && (i == 0 || to > dims[static_cast<size_t>(i - 1)]) &&
             (from[i] == 1 || from[i] == shape[to]);
      }
      if (!ok) {
        call.fail(fmt::format("{} does not go into shape {} at dimensions [{}]", to_string(call.type(0)),
                              to_string(shape), join(dims, ",")));
      }
      return TensorType{call.type(0).dtype, shape};
    },
    .vjp = broadcast_vjp,
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      Dims dims{0};
      for (const int64_t dim : call.attr<Dims>("broadcast_dimensions")) dims.push_back(dim + 1);
      const int64_t size = call.shape(0)[0];
      return {broadcast_in_dim(call.operand(0), Shape(call.attr<Dims>("_shape")).prefixed(std::span(&size, 1)), dims)};
    },
    .trait = OpTrait::kFree};

constexpr const OpDef* kOps[] = {&kBroadcastInDim};

}  // namespace

std::span<const OpDef* const> broadcast_ops() { return kOps; }

Tensor broadcast_in_dim(Tensor x, const Shape& shape, Dims dims) {
  return emit(kBroadcastInDim, {x},
              {{"broadcast_dimensions", std::move(dims)}, {"_shape", Dims(shape.begin(), shape.end())}});
}

Tensor broadcast_to(Tensor x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (x.rank() > shape.rank()) {
    fail_op(x.graph(), "broadcast_to",
            fmt::format("{} has more dimensions than {}", to_string(x.type()), to_string(shape)));
  }
  Dims dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), shape.rank() - x.rank());
  return broadcast_in_dim(x, shape, std::move(dims));
}

Tensor repeat_in_front(Tensor x, int64_t size) {
  Dims dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), 1);
  return broadcast_in_dim(x, x.shape().prefixed(std::span(&size, 1)), std::move(dims));
}

std::pair<Tensor, Tensor> broadcast_together(std::string_view op, Tensor a, Tensor b) {
  if (!a || !b) fail<ShapeError>("{}: an operand is the null Tensor: it was never given", op);
  if (a.shape() == b.shape()) return {a, b};
  Dims common(static_cast<size_t>(std::max(a.rank(), b.rank())));
  for (int64_t i = 1; i <= static_cast<int64_t>(common.size()); ++i) {
    const int64_t from_a = i <= a.rank() ? a.dim(-i) : 1;
    const int64_t from_b = i <= b.rank() ? b.dim(-i) : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      fail_op(a.graph(), op,
              fmt::format("shapes {} and {} do not broadcast: dimension {} from the end is {} and {}",
                          to_string(a.type()), to_string(b.type()), i, from_a, from_b));
    }
    common[common.size() - static_cast<size_t>(i)] = from_a == 1 ? from_b : from_a;
  }
  const Shape shape(std::move(common));
  return {broadcast_to(a, shape), broadcast_to(b, shape)};
}

}  // namespace pax
