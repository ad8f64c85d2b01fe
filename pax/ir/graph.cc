#include "pax/ir/graph.h"

#include <fmt/format.h>

#include <unordered_set>

#include "pax/base/error.h"
#include "pax/base/text.h"

namespace pax {

Graph::Graph() {
  blocks_.emplace_back();
  intern_path("");
}

Tensor Graph::argument(std::string_view name, TensorType type, std::optional<Sharding> sharding) {
  const auto [at, is_new] = argument_index_.try_emplace(std::string(name), arguments_.size());
  if (!is_new) {
    const Argument& known = arguments_[at->second];
    if (value(known.value).type != type) {
      fail<ShapeError>("input {} was declared as {} and again as {}", name, to_string(value(known.value).type),
                       to_string(type));
    }
    return tensor(known.value);
  }
  const Tensor arg = add_block_arg(0, std::move(type));
  arguments_.push_back({std::string(name), arg.id(), std::move(sharding)});
  return arg;
}

void Graph::output(std::string_view name, Tensor value, std::optional<Sharding> sharding) {
  outputs_.push_back({std::string(name), value.id(), std::move(sharding)});
  block(0).results.push_back(value.id());
}

std::vector<Tensor> Graph::tensors(std::span<const ValueId> ids) {
  std::vector<Tensor> out;
  out.reserve(ids.size());
  for (const ValueId id : ids) out.push_back(tensor(id));
  return out;
}

OpCall Graph::call(NodeId id) {
  Node& n = node(id);
  return {.graph = *this,
          .op = *n.op,
          .operands = tensors(n.operands),
          .attrs = n.attrs,
          .blocks = n.blocks,
          .results = tensors(n.results)};
}

BlockId Graph::add_block(BlockId parent) {
  blocks_.push_back({.parent = parent});
  return static_cast<BlockId>(blocks_.size() - 1);
}

Tensor Graph::add_block_arg(BlockId block_id, TensorType type) {
  Block& owner = block(block_id);
  const auto id = static_cast<ValueId>(values_.size());
  values_.push_back({std::move(type), -1, static_cast<int32_t>(owner.args.size()), block_id});
  owner.args.push_back(id);
  return tensor(id);
}

NodeId Graph::add_node(Node node, std::span<const TensorType> result_types) {
  const auto id = static_cast<NodeId>(nodes_.size());
  node.path = current_path_;
  node.results.clear();
  for (const TensorType& type : result_types) {
    node.results.push_back(static_cast<ValueId>(values_.size()));
    values_.push_back({type, id, static_cast<int32_t>(node.results.size() - 1), current_block_});
  }
  for (const BlockId inner : node.blocks) block(inner).parent = current_block_;
  nodes_.push_back(std::move(node));
  block(current_block_).nodes.push_back(id);
  return id;
}

Tensor Graph::add_result(NodeId id, TensorType type) {
  Node& owner = node(id);
  const BlockId home = value(owner.results.at(0)).block;
  owner.results.push_back(static_cast<ValueId>(values_.size()));
  values_.push_back({std::move(type), id, static_cast<int32_t>(owner.results.size() - 1), home});
  return tensor(owner.results.back());
}

bool Graph::inside(BlockId block_id, BlockId ancestor) const {
  for (; block_id >= 0; block_id = block(block_id).parent) {
    if (block_id == ancestor) return true;
  }
  return false;
}

void Graph::replace_uses(BlockId block_id, const std::unordered_map<ValueId, ValueId>& replacement) {
  if (replacement.empty()) return;
  const auto replace = [&](ValueId& id) {
    if (const auto at = replacement.find(id); at != replacement.end()) id = at->second;
  };
  Block& b = block(block_id);
  for (const NodeId id : b.nodes) {
    Node& n = node(id);
    for (ValueId& operand : n.operands) replace(operand);
    for (const BlockId inner : n.blocks) replace_uses(inner, replacement);
  }
  for (ValueId& result : b.results) replace(result);
  for (SideResult& side : b.sides) {
    ValueId id = side.value.id();
    replace(id);
    side.value = tensor(id);
  }
}

std::vector<ValueId> Graph::captures(BlockId block_id) const {
  std::vector<ValueId> found;
  std::unordered_set<ValueId> seen;
  const auto look = [&](ValueId id) {
    if (!inside(value(id).block, block_id) && seen.insert(id).second) found.push_back(id);
  };
  const auto walk = [&](const auto& self, BlockId at) -> void {
    for (const NodeId id : block(at).nodes) {
      for (const ValueId operand : node(id).operands) look(operand);
      for (const BlockId inner : node(id).blocks) self(self, inner);
    }
    for (const ValueId result : block(at).results) look(result);
    for (const SideResult& side : block(at).sides) look(side.value.id());
  };
  walk(walk, block_id);
  return found;
}

int32_t Graph::intern_path(const std::string& path) {
  const auto [at, is_new] = path_index_.try_emplace(path, static_cast<int32_t>(paths_.size()));
  if (is_new) paths_.push_back(path);
  return at->second;
}

Graph::PathGuard::PathGuard(Graph& graph, std::string_view name) : graph_(graph), previous_(graph.current_path_) {
  graph.current_path_ = graph.intern_path(join_path(graph.path(), name));
}

Graph::PathGuard::PathGuard(Graph& graph, int32_t path) : graph_(graph), previous_(graph.current_path_) {
  graph.current_path_ = path;
}

}  // namespace pax
