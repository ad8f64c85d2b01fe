#include "pax/control/remat.h"

#include <algorithm>

#include "pax/autodiff/vmap.h"
#include "pax/control/joint.h"
#include "pax/control/partition.h"
#include "pax/ir/transform.h"
#include "pax/ops/identity.h"

namespace pax {
namespace {

std::vector<size_t> where(const std::vector<bool>& flags) {
  std::vector<size_t> out;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) out.push_back(i);
  }
  return out;
}

const RematPolicy* policy_of(const OpCall& call) {
  const auto* policy = call.attrs.find<std::shared_ptr<const OpExtension>>("policy");
  return policy == nullptr ? nullptr : static_cast<const RematPolicy*>(policy->get());
}

/// Lets the op hand out its residuals, then computes the rest again beside the gradient, behind a barrier: the compiler
/// must not merge it with the first computation.
Grads remat_vjp(const OpCall& call, Tensor) {
  Graph& graph = call.graph;
  const std::vector<size_t> wanted = where(call.wanted);
  std::vector<size_t> given;
  for (size_t i = 0; i < call.grads.size(); ++i) {
    if (call.grads[i]) given.push_back(i);
  }
  const Joint joint = make_joint(graph, call.blocks[0], given, wanted);
  const Partition cut = partition(graph, joint.block, joint.grads, joint.cotangents, {}, policy_of(call));

  const NodeId node = graph.value(call.results[0].id()).node;
  graph.node(node).blocks = {joint.block};
  graph.block(joint.block).results = joint.results;
  std::vector<Tensor> passed;
  std::vector<ValueId> stand_for;
  for (const ValueId id : cut.residuals) {
    graph.block(joint.block).results.push_back(id);
    passed.push_back(graph.add_result(node, graph.value(id).type));
    stand_for.push_back(id);
  }
  for (const ValueId id : cut.read_args) {
    passed.push_back(call.operands[static_cast<size_t>(graph.value(id).index)]);
    stand_for.push_back(id);
  }
  for (size_t k = 0; k < given.size(); ++k) {
    passed.push_back(call.grads[given[k]]);
    stand_for.push_back(joint.cotangents[k]);
  }
  passed = optimization_barrier(passed);
  ValueMap map;
  for (size_t i = 0; i < passed.size(); ++i) map[stand_for[i]] = passed[i].id();
  for (const NodeId id : cut.second) {
    const Graph::PathGuard path(graph, graph.node(id).path);
    clone_node(graph, id, graph, map);
  }
  graph.block(joint.block).nodes = cut.early;
  graph.block(joint.block).args = joint.args;
  Grads grads(call.operands.size());
  for (size_t k = 0; k < wanted.size(); ++k) grads[wanted[k]] = graph.tensor(map.at(joint.grads[k]));
  return grads;
}

constinit const OpDef kRemat{.name = "remat",
                             .infer = [](const OpCall& call) -> ResultTypes {
                               std::vector<TensorType> types;
                               for (const ValueId id : call.graph.block(call.blocks[0]).results)
                                 types.push_back(call.graph.value(id).type);
                               return types;
                             },
                             .vjp = remat_vjp,
                             .batch = [](const OpCall& call, const std::vector<bool>& batched) -> std::vector<Tensor> {
                               const BatchedBlock body =
                                   batch_block(call.graph, call.blocks[0], batch_size(call, batched), batched);
                               return emit_all(call.graph, call.op, call.operands, call.attrs, {body.block});
                             },
                             .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
                               ValueMap map;
                               const std::vector<ValueId> args = call.graph.block(call.blocks[0]).args;
                               for (size_t i = 0; i < args.size(); ++i) map[args[i]] = call.operands[i].id();
                               return inline_block(call.graph, call.blocks[0], call.graph, map);
                             }};

}  // namespace

std::vector<Tensor> remat(Graph& graph, std::shared_ptr<const RematPolicy> policy, std::span<const Tensor> inputs,
                          const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body) {
  const BlockId block = graph.add_block(graph.current_block());
  std::vector<Tensor> args, results;
  for (const Tensor& input : inputs) args.push_back(graph.add_block_arg(block, input.type()));
  {
    const Graph::BlockGuard guard(graph, block);
    results = body(args);
  }
  const std::vector<SideResult> sides = std::move(graph.block(block).sides);
  graph.block(block).sides.clear();
  for (const Tensor& result : results) graph.block(block).results.push_back(result.id());
  for (const SideResult& side : sides) graph.block(block).results.push_back(side.value.id());

  std::vector<Tensor> operands(inputs.begin(), inputs.end());
  std::unordered_map<ValueId, ValueId> replacement;
  for (const ValueId id : graph.captures(block)) {
    operands.push_back(graph.tensor(id));
    replacement[id] = graph.add_block_arg(block, graph.value(id).type).id();
  }
  graph.replace_uses(block, replacement);
  Attrs attrs;
  if (policy) attrs.set("policy", std::shared_ptr<const OpExtension>(std::move(policy)));
  std::vector<Tensor> out = emit_all(graph, kRemat, std::move(operands), std::move(attrs), {block});
  for (size_t i = 0; i < sides.size(); ++i) {
    graph.block(graph.current_block()).sides.push_back({sides[i].channel, sides[i].name, out[results.size() + i]});
  }
  out.resize(results.size());
  return out;
}

}  // namespace pax
