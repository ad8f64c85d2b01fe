#include <fmt/format.h>

#include "pax/ops/all_ops.h"
#include "pax/ops/constant.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/region.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

/// Operands: arrays of one shape, then as many initial values; the region combines one element of each.
constinit const OpDef kReduceRegion{.name = "reduce", .infer = [](const OpCall& call) -> ResultTypes {
                                      std::vector<TensorType> types;
                                      for (size_t i = 0; i < call.operands.size() / 2; ++i) {
                                        Shape shape = call.shape(i);
                                        const auto& dims = call.attr<std::vector<int64_t>>("dimensions");
                                        for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim)
                                          shape = shape.without(*dim);
                                        types.push_back({call.type(i).dtype, std::move(shape)});
                                      }
                                      return types;
                                    }};

ResultTypes infer_arg(const OpCall& call) {
  const int64_t dim = call.attr<int64_t>("_dim");
  if (call.shape(0)[dim] == 0) {
    call.fail(fmt::format("dimension {} of {} is empty", dim, to_string(call.type(0))));
  }
  return TensorType{DType::kS32, call.shape(0).without(dim)};
}

std::vector<Tensor> batch_arg(const OpCall& call, const std::vector<bool>&) {
  return {emit(call.op, call.operands, {{"_dim", call.attr<int64_t>("_dim") + 1}})};
}

using Order = Tensor (*)(Tensor, Tensor);

/// Reduces pairs (value, position); `before` says which value wins. NaN wins over all, the first position over others.
std::vector<Tensor> lower_arg(const OpCall& call, Order before, Tensor worst) {
  const Tensor x = call.operand(0);
  const int64_t dim = call.attr<int64_t>("_dim");
  const Tensor position = iota(call.graph, {DType::kS32, x.shape()}, dim);
  const Tensor none = full(call.graph, {DType::kS32, {}}, 0);
  const TensorType value{x.dtype(), {}};
  const TensorType index{DType::kS32, {}};
  const BlockId body = build_block(call.graph, {value, index, value, index}, [&](const std::vector<Tensor>& args) {
    const Tensor a = args[0];
    const Tensor b = args[2];
    const Tensor a_wins = logical_or(before(a, b), ne(a, a));
    const Tensor tie = logical_and(eq(a, b), lt(args[1], args[3]));
    return std::vector<Tensor>{select(a_wins, a, b), select(logical_or(a_wins, tie), args[1], args[3])};
  });
  return {emit_all(call.graph, kReduceRegion, {x, position, worst, none}, {{"dimensions", std::vector<int64_t>{dim}}},
                   {body})[1]};
}

constinit const OpDef kArgmax{.name = "argmax",
                              .infer = infer_arg,
                              .batch = batch_arg,
                              .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
                                return lower_arg(call, gt, lowest(call.graph, call.type(0).dtype));
                              }};

constinit const OpDef kArgmin{.name = "argmin",
                              .infer = infer_arg,
                              .batch = batch_arg,
                              .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
                                return lower_arg(call, lt, highest(call.graph, call.type(0).dtype));
                              }};

constexpr const OpDef* kOps[] = {&kReduceRegion, &kArgmax, &kArgmin};

}  // namespace

std::span<const OpDef* const> arg_ops() { return kOps; }

Tensor argmax(Tensor x, int64_t dim) { return emit(kArgmax, {x}, {{"_dim", resolve_dim("argmax", x, dim)}}); }
Tensor argmin(Tensor x, int64_t dim) { return emit(kArgmin, {x}, {{"_dim", resolve_dim("argmin", x, dim)}}); }

}  // namespace pax
