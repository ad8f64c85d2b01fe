#include "pax/task/flops.h"

#include <algorithm>

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

const Node* producer(const Graph& graph, ValueId value) {
  const NodeId node = graph.value(value).node;
  return node < 0 ? nullptr : &graph.node(node);
}

/// Rows that compare ids with 0, 1, 2, …, converted to numbers.
bool is_one_hot(const Graph& graph, ValueId value) {
  const Node* node = producer(graph, value);
  while (node != nullptr && node->op->name == "convert") node = producer(graph, node->operands[0]);
  if (node == nullptr || node->op->name != "compare") return false;
  return std::ranges::any_of(node->operands, [&](ValueId operand) {
    const Node* compared = producer(graph, operand);
    return compared != nullptr && compared->op->name == "iota";
  });
}

bool is_lookup(const Graph& graph, const Node& dot) {
  return is_one_hot(graph, dot.operands[0]) || is_one_hot(graph, dot.operands[1]);
}

bool is_attention(const Node& dot) {
  const auto* dims = dot.attrs.find<DotDims>("dot_dimension_numbers");
  return dims != nullptr && dims->lhs_batch.size() > 1;
}

enum class Count : uint8_t { kAll, kAttention };

class Counter {
 public:
  Counter(const Graph& graph, Count what) : graph_(graph), what_(what), live_(live_values(graph)) {}

  double count(BlockId block) const {
    double sum = 0;
    for (const NodeId id : graph_.block(block).nodes) sum += node_flops(graph_.node(id));
    return sum;
  }

  /// Adds the operations of `block`, run `times` times, to those of the layers that built them.
  void add_by_layer(BlockId block, double times, std::map<std::string, double>& layers) const {
    for (const NodeId id : graph_.block(block).nodes) {
      const Node& node = graph_.node(id);
      if (node.blocks.empty()) {
        const double flops = node_flops(node);
        if (flops > 0) layers[graph_.path_name(node.path)] += times * flops;
        continue;
      }
      const auto* length = node.attrs.find<int64_t>("length");
      for (const BlockId inside : node.blocks) {
        add_by_layer(inside, length != nullptr ? times * static_cast<double>(*length) : times, layers);
      }
    }
  }

 private:
  double node_flops(const Node& node) const {
    bool used = false;
    for (const ValueId result : node.results) used = used || live_[static_cast<size_t>(result)];
    if (!used) return 0;
    if (node.op->name == "dot_general") {
      const bool counted = what_ == Count::kAttention ? is_attention(node) : !is_lookup(graph_, node);
      return counted ? dot_flops(graph_, node) : 0;
    }
    if (node.op->name == "convolution") return what_ == Count::kAll ? convolution_flops(graph_, node) : 0;
    double inside = 0;
    for (const BlockId block : node.blocks) inside += count(block);
    const auto* length = node.attrs.find<int64_t>("length");
    return length != nullptr ? inside * static_cast<double>(*length) : inside;
  }

  const Graph& graph_;
  const Count what_;
  const std::vector<bool> live_;
};

}  // namespace

double count_flops(const Graph& graph) { return Counter(graph, Count::kAll).count(0); }

double count_attention_flops(const Graph& graph) { return Counter(graph, Count::kAttention).count(0); }

std::map<std::string, double> flops_by_layer(const Graph& graph) {
  std::map<std::string, double> layers;
  Counter(graph, Count::kAll).add_by_layer(0, 1, layers);
  return layers;
}

double training_flops(const Graph& forward) { return 3 * count_flops(forward); }

}  // namespace pax
