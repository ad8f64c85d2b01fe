#include "pax/ops/identity.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"

namespace pax {
namespace {

std::vector<Tensor> operands_themselves(const OpCall& call, const Target&) { return call.operands; }

constinit const OpDef kStopGradient{.name = "stop_gradient",
                                    .infer = same_as_operand,
                                    .vjp = [](const OpCall&, Tensor) -> Grads { return {}; },
                                    .lower = operands_themselves,
                                    .trait = OpTrait::kElementwise};

ResultTypes types_of_operands(const OpCall& call) {
  std::vector<TensorType> types;
  for (const Tensor& operand : call.operands) types.push_back(operand.type());
  return types;
}

constinit const OpDef kOptimizationBarrier{
    .name = "optimization_barrier",
    .infer = types_of_operands,
    .vjp = [](const OpCall& call, Tensor) -> Grads { return call.grads; },
    .batch = [](const OpCall& call, const std::vector<bool>& batched) -> std::vector<Tensor> {
      std::vector<Tensor> alike = call.operands;
      const auto first = static_cast<size_t>(std::ranges::find(batched, true) - batched.begin());
      const int64_t size = call.shape(first)[0];
      for (size_t i = 0; i < alike.size(); ++i) {
        if (!batched[i]) alike[i] = repeat_in_front(alike[i], size);
      }
      return optimization_barrier(std::move(alike));
    }};

}  // namespace

constinit const OpDef kCheckpointName{.name = "checkpoint_name",
                                      .infer = same_as_operand,
                                      .vjp = [](const OpCall&, Tensor grad) -> Grads { return {grad}; },
                                      .lower = operands_themselves,
                                      .trait = OpTrait::kElementwise};

constinit const OpDef kShardingConstraint{
    .name = "sdy.sharding_constraint",
    .infer = [](const OpCall& call) -> ResultTypes {
      const auto& sharding = call.attr<Sharding>("sharding");
      if (static_cast<int64_t>(sharding.dims.size()) != call.shape(0).rank()) {
        call.fail(fmt::format("{} has {} dimensions, but the sharding {} is for {}", to_string(call.type(0)),
                              call.shape(0).rank(), to_shardy(sharding), sharding.dims.size()));
      }
      return call.type(0);
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      return {sharding_constraint(grad, call.attr<Sharding>("sharding"))};
    },
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      Sharding sharding = call.attr<Sharding>("sharding");
      sharding.dims.insert(sharding.dims.begin(), {std::string(kOpenAxis)});
      return {sharding_constraint(call.operand(0), std::move(sharding))};
    }};

namespace {
constexpr const OpDef* kOps[] = {&kStopGradient, &kOptimizationBarrier, &kCheckpointName, &kShardingConstraint};
}

std::span<const OpDef* const> identity_ops() { return kOps; }

Tensor stop_gradient(Tensor x) { return emit(kStopGradient, {x}); }

std::vector<Tensor> optimization_barrier(std::vector<Tensor> operands) {
  if (operands.empty()) return {};
  Graph& graph = operands[0].graph();
  return emit_all(graph, kOptimizationBarrier, std::move(operands), {}, {});
}

Tensor checkpoint_name(Tensor x, std::string name) { return emit(kCheckpointName, {x}, {{"_name", std::move(name)}}); }

Tensor sharding_constraint(Tensor x, Sharding sharding) {
  return emit(kShardingConstraint, {x}, {{"sharding", std::move(sharding)}});
}

}  // namespace pax
