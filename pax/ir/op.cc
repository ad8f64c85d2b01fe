#include "pax/ir/op.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/ir/graph.h"

namespace pax {
namespace {

std::vector<ValueId> ids(const std::vector<Tensor>& tensors) {
  std::vector<ValueId> out;
  out.reserve(tensors.size());
  for (const Tensor& tensor : tensors) out.push_back(tensor.id());
  return out;
}

/// Sizes from 0 on, of which there are not more elements than any memory holds; empty dimensions do not excuse others.
bool possible(const TensorType& type) {
  int64_t count = 1;
  for (const int64_t dim : type.shape) {
    if (dim < 0 || __builtin_mul_overflow(count, std::max<int64_t>(dim, 1), &count)) return false;
  }
  return count < int64_t{1} << 48;
}

}  // namespace

const TensorType& Tensor::type() const {
  if (graph_ == nullptr) throw ShapeError("the null Tensor was used: an input that this layer needs was not given");
  return graph_->value(id_).type;
}

void OpCall::fail(std::string_view message) const {
  const std::string& path = graph.path();
  throw ShapeError(fmt::format("{}{}: {}", path.empty() ? "" : path + ": ", op.name, message));
}

void OpCall::missing_attr(std::string_view name) const { fail(fmt::format("attribute \"{}\" is missing", name)); }

std::vector<Tensor> emit_all(Graph& graph, const OpDef& op, std::vector<Tensor> operands, Attrs attrs,
                             std::vector<BlockId> blocks) {
  OpCall call{.graph = graph, .op = op, .operands = std::move(operands), .attrs = attrs, .blocks = blocks};
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (!call.operands[i]) call.fail(fmt::format("operand {} is the null Tensor: it was never given", i));
    if (&call.operands[i].graph() != &graph) call.fail(fmt::format("operand {} belongs to another program", i));
  }
  const ResultTypes types = op.infer(call);
  for (const TensorType& type : types) {
    if (!possible(type)) call.fail(fmt::format("the result would be {}: no such array can be", to_string(type)));
  }
  const NodeId id = graph.add_node(
      {.op = &op, .operands = ids(call.operands), .attrs = std::move(attrs), .blocks = std::move(blocks)}, types);
  return graph.tensors(graph.node(id).results);
}

Tensor emit(const OpDef& op, std::vector<Tensor> operands, Attrs attrs) {
  if (operands.empty() || !operands[0]) {
    throw ShapeError(fmt::format("{}: the null Tensor was given: an input that this layer needs is missing", op.name));
  }
  Graph& graph = operands[0].graph();
  return emit_all(graph, op, std::move(operands), std::move(attrs), {})[0];
}

Tensor emit(Graph& graph, const OpDef& op, Attrs attrs) { return emit_all(graph, op, {}, std::move(attrs), {})[0]; }

ResultTypes same_as_operand(const OpCall& call) { return call.type(0); }

ResultTypes same_as_operands(const OpCall& call) {
  for (size_t i = 1; i < call.operands.size(); ++i) {
    if (call.type(i) == call.type(0)) continue;
    call.fail(fmt::format("operands must be of one type, but operand 0 is {} and operand {} is {}",
                          to_string(call.type(0)), i, to_string(call.type(i))));
  }
  return call.type(0);
}

}  // namespace pax
