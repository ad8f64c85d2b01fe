#include "pax/ops/sort.h"

#include <fmt/format.h>

#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/region.h"
#include "pax/ops/require.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

ResultTypes infer_sort(const OpCall& call) {
  std::vector<TensorType> types;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (call.shape(i) != call.shape(0)) {
      call.fail(fmt::format("operand 0 is {} and operand {} is {}: sorted together they must have one shape",
                            to_string(call.type(0)), i, to_string(call.type(i))));
    }
    types.push_back(call.type(i));
  }
  return types;
}

constinit const OpDef kSortRegion{.name = "sort", .infer = infer_sort};

/// A comparison that orders all floats: NaN last, -0 before 0.
constinit const OpDef kTotalCompare{.name = "compare", .infer = [](const OpCall& call) -> ResultTypes {
                                      same_as_operands(call);
                                      return TensorType{DType::kPred, call.shape(0)};
                                    }};

Tensor before(Tensor a, Tensor b, bool descending) {
  Attrs attrs{{"comparison_direction",
               Mlir{descending ? "#stablehlo<comparison_direction GT>" : "#stablehlo<comparison_direction LT>"}}};
  if (is_floating(a.dtype())) attrs.set("compare_type", Mlir{"#stablehlo<comparison_type TOTALORDER>"});
  return emit(kTotalCompare, {a, b}, std::move(attrs));
}

/// The comparator's arguments are pairs, one of each operand; later keys decide where earlier ones are equal.
Tensor before_by_keys(const std::vector<Tensor>& args, int64_t num_keys, bool descending) {
  auto key = static_cast<size_t>(num_keys);
  Tensor result;
  while (key-- > 0) {
    const Tensor a = args[2 * key];
    const Tensor b = args[2 * key + 1];
    const Tensor here = before(a, b, descending);
    result = result ? logical_or(here, logical_and(logical_not(before(b, a, descending)), result)) : here;
  }
  return result;
}

std::vector<Tensor> lower_sort(const OpCall& call, const Target&) {
  std::vector<TensorType> types;
  for (const Tensor& operand : call.operands) {
    types.push_back({operand.dtype(), {}});
    types.push_back({operand.dtype(), {}});
  }
  const BlockId body = build_block(call.graph, types, [&](const std::vector<Tensor>& args) {
    return std::vector<Tensor>{before_by_keys(args, call.attr<int64_t>("_keys"), call.attr<bool>("_descending"))};
  });
  return emit_all(call.graph, kSortRegion, call.operands,
                  {{"dimension", call.attr<int64_t>("_dim")}, {"is_stable", true}}, {body});
}

std::vector<Tensor> sort_like(const OpCall& call, std::vector<Tensor> operands, int64_t dim) {
  Attrs attrs = call.attrs;
  attrs.set("_dim", dim);
  return emit_all(call.graph, call.op, std::move(operands), std::move(attrs), {});
}

/// Where each element came from is found by sorting positions along; sorting by them brings gradients back.
Grads sort_vjp(const OpCall& call, Tensor) {
  const int64_t dim = call.attr<int64_t>("_dim");
  std::vector<Tensor> with_positions = call.operands;
  with_positions.push_back(iota(call.graph, {DType::kS32, call.shape(0)}, dim));
  const Tensor origin = sort_like(call, std::move(with_positions), dim).back();
  Grads grads;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const bool flows = call.grads[i] && call.wants(i);
    grads.push_back(flows ? sort({origin, call.grads[i]}, dim)[1] : Tensor());
  }
  return grads;
}

constinit const OpDef kSort{
    .name = "sort",
    .infer = infer_sort,
    .vjp = sort_vjp,
    .batch = [](const OpCall& call, const std::vector<bool>& batched) -> std::vector<Tensor> {
      const auto first = static_cast<size_t>(std::find(batched.begin(), batched.end(), true) - batched.begin());
      std::vector<Tensor> operands = call.operands;
      for (size_t i = 0; i < operands.size(); ++i) {
        if (!batched[i]) operands[i] = repeat_in_front(operands[i], call.shape(first)[0]);
      }
      return sort_like(call, std::move(operands), call.attr<int64_t>("_dim") + 1);
    },
    .lower = lower_sort};

/// The form that XLA knows as a top-k: a descending sort with positions, of which the first k are taken.
std::vector<Tensor> lower_top_k(const OpCall& call, const Target&) {
  const Tensor x = call.operand(0);
  const int64_t k = call.attr<int64_t>("_k");
  const Tensor position = iota(call.graph, {DType::kS32, x.shape()}, x.rank() - 1);
  const std::vector<Tensor> sorted = sort({x, position}, -1, Order::kDescending);
  return {slice_dim(sorted[0], -1, 0, k), slice_dim(sorted[1], -1, 0, k)};
}

constinit const OpDef kTopK{
    .name = "top_k",
    .infer = [](const OpCall& call) -> ResultTypes {
      Shape shape = call.shape(0);
      const int64_t k = call.attr<int64_t>("_k");
      if (shape.rank() == 0 || k < 0 || k > shape[-1]) {
        call.fail(fmt::format("{} has no {} largest elements in its last dimension", to_string(call.type(0)), k));
      }
      shape[-1] = k;
      return std::vector<TensorType>{{call.type(0).dtype, shape}, {DType::kS32, shape}};
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      return {scatter_along(zeros_like(call.operand(0)), call.results[1], grad, -1)};
    },
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      return emit_all(call.graph, call.op, call.operands, call.attrs, {});
    },
    .lower = lower_top_k};

constexpr const OpDef* kOps[] = {&kSortRegion, &kTotalCompare, &kSort, &kTopK};

}  // namespace

std::span<const OpDef* const> sort_ops() { return kOps; }

std::vector<Tensor> sort(std::vector<Tensor> operands, int64_t dim, Order order, int64_t num_keys) {
  if (operands.empty()) return {};
  Graph& graph = operands[0].graph();
  dim = resolve_dim("sort", operands[0], dim);
  if (num_keys < 1 || num_keys > static_cast<int64_t>(operands.size())) {
    fail_op(graph, "sort", fmt::format("{} keys of {} operands", num_keys, operands.size()));
  }
  return emit_all(graph, kSort, std::move(operands),
                  {{"_dim", dim}, {"_descending", order == Order::kDescending}, {"_keys", num_keys}}, {});
}

Tensor sort(Tensor x, int64_t dim, Order order) { return sort(std::vector<Tensor>{x}, dim, order)[0]; }

Tensor argsort(Tensor x, int64_t dim, Order order) {
  dim = resolve_dim("argsort", x, dim);
  return sort({x, iota(x.graph(), {DType::kS32, x.shape()}, dim)}, dim, order)[1];
}

std::pair<Tensor, Tensor> top_k(Tensor x, int64_t k) {
  const std::vector<Tensor> out = emit_all(x.graph(), kTopK, {x}, {{"_k", k}}, {});
  return {out[0], out[1]};
}

}  // namespace pax
