#include "pax/autodiff/grad.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/ir/graph.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"

namespace pax {
namespace {

/// Nodes of the block being written and of those around it, outermost first: in order of execution.
std::vector<NodeId> nodes_so_far(const Graph& graph) {
  std::vector<BlockId> chain;
  for (BlockId block = graph.current_block(); block >= 0; block = graph.block(block).parent) chain.push_back(block);
  std::vector<NodeId> nodes;
  for (auto block = chain.rbegin(); block != chain.rend(); ++block) {
    const std::vector<NodeId>& own = graph.block(*block).nodes;
    nodes.insert(nodes.end(), own.begin(), own.end());
  }
  return nodes;
}

/// Cotangents of the values of one program, summed as they come in.
class Cotangents {
 public:
  explicit Cotangents(Graph& graph) : by_value_(graph.num_values()) {}

  void add(Tensor value, Tensor cotangent) {
    Tensor& sum = by_value_[static_cast<size_t>(value.id())];
    sum = sum ? sum + cotangent : cotangent;
  }
  Tensor of(ValueId id) const { return by_value_[static_cast<size_t>(id)]; }

 private:
  std::vector<Tensor> by_value_;
};

void check_cotangent(const OpCall& call, size_t i, Tensor cotangent) {
  if (cotangent.type() == call.type(i)) return;
  call.fail(fmt::format("the gradient of operand {} is {} but the operand is {}", i, to_string(cotangent.type()),
                        to_string(call.type(i))));
}

void pull_through(Graph& graph, NodeId id, const std::vector<bool>& dependent, Cotangents& cotangents) {
  OpCall call = graph.call(id);
  bool reached = false;
  for (const Tensor& result : call.results) {
    call.grads.push_back(cotangents.of(result.id()));
    reached = reached || call.grads.back();
  }
  if (!reached) return;
  bool any = false;
  for (const Tensor& operand : call.operands) {
    call.wanted.push_back(dependent[static_cast<size_t>(operand.id())]);
    any = any || call.wanted.back();
  }
  if (!any) return;
  const Graph::PathGuard path(graph, graph.node(id).path);
  if (call.op.vjp == nullptr) call.fail("this op has no gradient; put stop_gradient around what feeds it");
  const Grads grads = call.op.vjp(call, call.grads[0]);
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i] || !call.wanted[i]) continue;
    check_cotangent(call, i, grads[i]);
    cotangents.add(call.operands[i], grads[i]);
  }
}

}  // namespace

std::vector<bool> dependent_values(std::span<const Tensor> wrt) {
  if (wrt.empty()) return {};
  const Graph& graph = wrt[0].graph();
  std::vector<bool> dependent(graph.num_values());
  for (const Tensor& x : wrt) dependent[static_cast<size_t>(x.id())] = true;
  for (const NodeId id : nodes_so_far(graph)) {
    const Node& node = graph.node(id);
    const bool depends =
        std::ranges::any_of(node.operands, [&](ValueId operand) { return dependent[static_cast<size_t>(operand)]; });
    if (!depends) continue;
    for (const ValueId result : node.results) {
      if (is_floating(graph.value(result).type.dtype)) dependent[static_cast<size_t>(result)] = true;
    }
  }
  return dependent;
}

std::vector<Tensor> pullback(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                             std::span<const Tensor> wrt) {
  if (wrt.empty()) return {};
  Graph& graph = wrt[0].graph();
  const std::vector<NodeId> nodes = nodes_so_far(graph);
  const std::vector<bool> dependent = dependent_values(wrt);
  Cotangents sums(graph);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (cotangents[i]) sums.add(outputs[i], cotangents[i]);
  }
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) pull_through(graph, *id, dependent, sums);
  std::vector<Tensor> out;
  for (const Tensor& x : wrt) out.push_back(sums.of(x.id()));
  return out;
}

std::vector<Tensor> grad(Tensor loss, std::span<const Tensor> wrt) {
  if (loss.rank() != 0 || !is_floating(loss.dtype())) {
    fail<ShapeError>("grad: the loss must be a floating scalar but is {}", to_string(loss.type()));
  }
  for (const Tensor& x : wrt) {
    if (!is_floating(x.dtype()))
      fail<ShapeError>("grad: {} is no floating type and has no gradient", to_string(x.type()));
  }
  const Tensor one = full_like(loss, 1);
  std::vector<Tensor> grads = pullback(std::span(&loss, 1), std::span(&one, 1), wrt);
  for (size_t i = 0; i < wrt.size(); ++i) {
    if (!grads[i]) grads[i] = zeros_like(wrt[i]);
  }
  return grads;
}

std::vector<Tensor> grad(Tensor loss, std::initializer_list<Tensor> wrt) {
  return grad(loss, std::span<const Tensor>(wrt.begin(), wrt.size()));
}

}  // namespace pax
