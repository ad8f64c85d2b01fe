#include "pax/autodiff/vmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "pax/base/error.h"
#include "pax/ir/transform.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

/// Writes the nodes of a block for a whole batch. Values that are not in `values_` are the same for all elements.
class Batcher {
 public:
  Batcher(Graph& graph, int64_t size) : graph_(graph), size_(size) {}

  void set(ValueId element, Tensor value, bool batched) { values_[element] = {value.id(), batched}; }

  void write_nodes(BlockId block) {
    const std::vector<NodeId> nodes = graph_.block(block).nodes;
    for (const NodeId id : nodes) {
      const Graph::PathGuard path(graph_, graph_.node(id).path);
      write_node(id);
    }
  }

  Tensor value(ValueId element) const { return graph_.tensor(entry(element).id); }
  bool batched(ValueId element) const { return entry(element).batched; }

  /// The value with the elements in front, whatever it depends on.
  Tensor spread(ValueId element) const {
    return batched(element) ? value(element) : repeat_in_front(value(element), size_);
  }

 private:
  struct Entry {
    ValueId id;
    bool batched;
  };

  Entry entry(ValueId element) const {
    const auto at = values_.find(element);
    return at == values_.end() ? Entry{element, false} : at->second;
  }

  void write_node(NodeId id) {
    const Node node = graph_.node(id);
    std::vector<bool> flags;
    for (const ValueId operand : node.operands) flags.push_back(batched(operand));
    if (std::ranges::find(flags, true) == flags.end()) {
      copy_node(id, node);
      return;
    }
    const std::vector<Tensor> results = batch(node, flags);
    for (size_t i = 0; i < results.size(); ++i) {
      const int64_t rank = graph_.value(node.results[i]).type.shape.rank();
      set(node.results[i], results[i], results[i].rank() > rank);
    }
  }

  void copy_node(NodeId id, const Node& node) {
    ValueMap map;
    for (const ValueId operand : node.operands) map[operand] = entry(operand).id;
    clone_node(graph_, id, graph_, map);
    for (const ValueId result : node.results) set(result, graph_.tensor(map.at(result)), false);
  }

  std::vector<Tensor> batch(const Node& node, const std::vector<bool>& flags) {
    std::vector<Tensor> operands;
    for (const ValueId operand : node.operands) {
      operands.push_back(node.op->trait == OpTrait::kElementwise ? spread(operand) : value(operand));
    }
    if (node.op->trait == OpTrait::kElementwise) {
      return emit_all(graph_, *node.op, std::move(operands), node.attrs, {});
    }
    const OpCall call{.graph = graph_,
                      .op = *node.op,
                      .operands = std::move(operands),
                      .attrs = node.attrs,
                      .blocks = node.blocks,
                      .results = graph_.tensors(node.results)};
    if (node.op->batch == nullptr) call.fail("this op does not run on a batch (vmap)");
    return node.op->batch(call, flags);
  }

  Graph& graph_;
  const int64_t size_;
  std::unordered_map<ValueId, Entry> values_;
};

int64_t size_of(const Graph& graph, std::span<const Tensor> inputs, const VmapOptions& options,
                std::vector<std::optional<int64_t>>& dims) {
  int64_t size = options.size;
  const std::string where = graph.path().empty() ? "vmap" : graph.path() + ": vmap";
  if (dims.size() != inputs.size()) {
    fail<ShapeError>("{}: {} inputs, but dimensions for {}", where, inputs.size(), dims.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!dims[i]) continue;
    dims[i] = resolve_dim("vmap", inputs[i], *dims[i]);
    const int64_t own = inputs[i].dim(*dims[i]);
    if (size == 0) size = own;
    if (own != size)
      fail<ShapeError>("{}: input {} is {}: {} elements, but there are {}", where, i, to_string(inputs[i].type()), own,
                       size);
  }
  if (size < 1) fail<ShapeError>("{}: no input says how many elements there are; give `size`", where);
  return size;
}

}  // namespace

int64_t batch_size(const OpCall& call, const std::vector<bool>& batched) {
  return call.shape(static_cast<size_t>(std::ranges::find(batched, true) - batched.begin()))[0];
}

std::vector<Tensor> inline_batched(Graph& graph, BlockId body, int64_t size, std::span<const Tensor> args,
                                   const std::vector<bool>& batched) {
  Batcher batcher(graph, size);
  const std::vector<ValueId> elements = graph.block(body).args;
  for (size_t i = 0; i < args.size(); ++i) batcher.set(elements[i], args[i], batched[i]);
  batcher.write_nodes(body);
  std::vector<Tensor> results;
  for (const ValueId result : graph.block(body).results) results.push_back(batcher.value(result));
  return results;
}

BatchedBlock batch_block(Graph& graph, BlockId body, int64_t size, const std::vector<bool>& batched,
                         const std::vector<bool>& forced) {
  BatchedBlock out{.block = graph.add_block(graph.current_block())};
  Batcher batcher(graph, size);
  const std::vector<ValueId> args = graph.block(body).args;
  for (size_t i = 0; i < args.size(); ++i) {
    TensorType type = graph.value(args[i]).type;
    if (batched[i]) type.shape = type.shape.prefixed(std::span(&size, 1));
    batcher.set(args[i], graph.add_block_arg(out.block, std::move(type)), batched[i]);
  }
  const Graph::BlockGuard guard(graph, out.block);
  batcher.write_nodes(body);
  const std::vector<ValueId> results = graph.block(body).results;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool spread = batcher.batched(results[i]) || (!forced.empty() && forced[i]);
    const Tensor value = spread ? batcher.spread(results[i]) : batcher.value(results[i]);
    graph.block(out.block).results.push_back(value.id());
    out.results.push_back(spread);
  }
  return out;
}

std::vector<Tensor> vmap(Graph& graph, std::span<const Tensor> inputs, const VmapOptions& options,
                         const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body) {
  std::vector<std::optional<int64_t>> dims = options.dims;
  if (dims.empty()) dims.assign(inputs.size(), 0);
  const int64_t size = size_of(graph, inputs, options, dims);
  const BlockId block = graph.add_block(graph.current_block());
  Batcher batcher(graph, size);
  std::vector<Tensor> args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor input = dims[i] ? move_dim(inputs[i], *dims[i], 0) : inputs[i];
    args.push_back(graph.add_block_arg(block, {input.dtype(), dims[i] ? input.shape().without(0) : input.shape()}));
    batcher.set(args.back().id(), input, dims[i].has_value());
  }
  std::vector<Tensor> elements;
  {
    const Graph::BlockGuard guard(graph, block);
    elements = body(args);
  }
  batcher.write_nodes(block);
  const std::vector<SideResult> sides = graph.block(block).sides;
  for (const SideResult& side : sides) {
    graph.block(graph.current_block()).sides.push_back({side.channel, side.name, batcher.spread(side.value.id())});
  }
  std::vector<Tensor> results;
  for (const Tensor& element : elements) results.push_back(element ? batcher.spread(element.id()) : element);
  return results;
}

std::vector<Tensor> vmap(std::span<const Tensor> inputs,
                         const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body) {
  if (inputs.empty()) fail<ShapeError>("vmap: no inputs: how many elements there are is not known");
  return vmap(inputs[0].graph(), inputs, {}, body);
}

}  // namespace pax
