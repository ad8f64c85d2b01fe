#include "pax/control/joint.h"

#include "pax/autodiff/grad.h"
#include "pax/ir/transform.h"
#include "pax/ops/constant.h"

namespace pax {
namespace {

std::vector<Tensor> picked(Graph& graph, const std::vector<ValueId>& ids, const std::vector<size_t>& which) {
  std::vector<Tensor> out;
  for (const size_t i : which) out.push_back(graph.tensor(ids[i]));
  return out;
}

}  // namespace

Joint make_joint(Graph& graph, BlockId body, const std::vector<size_t>& given, const std::vector<size_t>& wanted) {
  Joint joint{.block = graph.add_block(graph.current_block())};
  ValueMap map;
  const std::vector<ValueId> body_args = graph.block(body).args;
  for (const ValueId arg : body_args) {
    joint.args.push_back(graph.add_block_arg(joint.block, graph.value(arg).type).id());
    map[arg] = joint.args.back();
  }
  const Graph::BlockGuard guard(graph, joint.block);
  for (const Tensor& result : inline_block(graph, body, graph, map)) joint.results.push_back(result.id());
  const std::vector<Tensor> outputs = picked(graph, joint.results, given);
  std::vector<Tensor> cotangents;
  for (const Tensor& output : outputs) {
    cotangents.push_back(graph.add_block_arg(joint.block, output.type()));
    joint.cotangents.push_back(cotangents.back().id());
  }
  const std::vector<Tensor> inputs = picked(graph, joint.args, wanted);
  const std::vector<Tensor> grads = pullback(outputs, cotangents, inputs);
  for (size_t i = 0; i < grads.size(); ++i) joint.grads.push_back((grads[i] ? grads[i] : zeros_like(inputs[i])).id());
  return joint;
}

std::vector<bool> dependent_results(Graph& graph, BlockId body, const std::vector<size_t>& wanted) {
  const Graph::BlockGuard guard(graph, body);
  const std::vector<bool> dependent = dependent_values(picked(graph, graph.block(body).args, wanted));
  std::vector<bool> out;
  for (const ValueId result : graph.block(body).results) {
    out.push_back(!dependent.empty() && dependent[static_cast<size_t>(result)]);
  }
  return out;
}

}  // namespace pax
