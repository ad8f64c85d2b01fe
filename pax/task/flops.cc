#include "pax/task/flops.h"

#include "pax/ir/transform.h"

namespace pax {
namespace {

double product(const Shape& shape) { return static_cast<double>(shape.num_elements()); }

double dot_flops(const Graph& graph, const Node& node) {
  const auto* dims = node.attrs.find<DotDims>("dot_dimension_numbers");
  double contracted = 1;
  if (dims != nullptr) {
    const Shape& lhs = graph.value(node.operands[0]).type.shape;
    for (const int64_t dim : dims->lhs_contract) contracted *= static_cast<double>(lhs[dim]);
  }
  return 2 * product(graph.value(node.results[0]).type.shape) * contracted;
}

/// Each output element takes every weight of its output channel once; the kernel's last dimension is that channel.
double convolution_flops(const Graph& graph, const Node& node) {
  const Shape& kernel = graph.value(node.operands[1]).type.shape;
  const double per_output = product(kernel) / static_cast<double>(kernel[-1]);
  return 2 * product(graph.value(node.results[0]).type.shape) * per_output;
}

class Counter {
 public:
  explicit Counter(const Graph& graph) : graph_(graph), live_(live_values(graph)) {}

  double count(BlockId block) const {
    double sum = 0;
    for (const NodeId id : graph_.block(block).nodes) sum += node_flops(graph_.node(id));
    return sum;
  }

 private:
  double node_flops(const Node& node) const {
    bool used = false;
    for (const ValueId result : node.results) used = used || live_[static_cast<size_t>(result)];
    if (!used) return 0;
    if (node.op->name == "dot_general") return dot_flops(graph_, node);
    if (node.op->name == "convolution") return convolution_flops(graph_, node);
    double inside = 0;
    for (const BlockId block : node.blocks) inside += count(block);
    const auto* length = node.attrs.find<int64_t>("length");
    return length != nullptr ? inside * static_cast<double>(*length) : inside;
  }

  const Graph& graph_;
  const std::vector<bool> live_;
};

}  // namespace

double count_flops(const Graph& graph) { return Counter(graph).count(0); }

double training_flops(const Graph& forward) { return 3 * count_flops(forward); }

}  // namespace pax
