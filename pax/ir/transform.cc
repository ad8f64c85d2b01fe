#include "pax/ir/transform.h"

#include <fmt/format.h>

#include "pax/base/error.h"

namespace pax {
namespace {

ValueId mapped(const ValueMap& map, ValueId id) {
  const auto at = map.find(id);
  return at == map.end() ? id : at->second;
}

std::vector<ValueId> mapped(const ValueMap& map, const std::vector<ValueId>& ids) {
  std::vector<ValueId> out;
  out.reserve(ids.size());
  for (const ValueId id : ids) out.push_back(mapped(map, id));
  return out;
}

std::vector<TensorType> result_types(const Graph& graph, const Node& n) {
  std::vector<TensorType> types;
  types.reserve(n.results.size());
  for (const ValueId id : n.results) types.push_back(graph.value(id).type);
  return types;
}

}  // namespace

void clone_node(const Graph& from, NodeId id, Graph& to, ValueMap& map) {
  const Node& n = from.node(id);  // Stays where it is when nodes are added.
  std::vector<BlockId> blocks;
  for (const BlockId block : n.blocks) blocks.push_back(clone_block(from, block, to, map));
  const NodeId copy =
      to.add_node({.op = n.op, .operands = mapped(map, n.operands), .attrs = n.attrs, .blocks = std::move(blocks)},
                  result_types(from, n));
  for (size_t i = 0; i < n.results.size(); ++i) map[n.results[i]] = to.node(copy).results[i];
}

std::vector<Tensor> inline_block(const Graph& from, BlockId block, Graph& to, ValueMap& map) {
  const std::vector<NodeId> nodes = from.block(block).nodes;
  for (const NodeId id : nodes) {
    const Graph::PathGuard guard(to, to.path_of(from.path_name(from.node(id).path)));
    clone_node(from, id, to, map);
  }
  return to.tensors(mapped(map, from.block(block).results));
}

BlockId clone_block(const Graph& from, BlockId block, Graph& to, ValueMap& map) {
  const BlockId copy = to.add_block(to.current_block());
  const std::vector<ValueId> args = from.block(block).args;
  for (const ValueId arg : args) map[arg] = to.add_block_arg(copy, from.value(arg).type).id();
  const Graph::BlockGuard guard(to, copy);
  const std::vector<Tensor> results = inline_block(from, block, to, map);
  for (const Tensor& result : results) to.block(copy).results.push_back(result.id());
  return copy;
}

std::vector<bool> live_values(const Graph& graph) {
  std::vector<bool> live(graph.num_values());
  const auto walk = [&](const auto& self, BlockId at) -> void {
    const Block& block = graph.block(at);
    for (const ValueId result : block.results) live[static_cast<size_t>(result)] = true;
    for (auto id = block.nodes.rbegin(); id != block.nodes.rend(); ++id) {
      const Node& n = graph.node(*id);
      bool used = false;
      for (const ValueId result : n.results) used = used || live[static_cast<size_t>(result)];
      if (!used) continue;
      for (const BlockId inner : n.blocks) self(self, inner);
      for (const ValueId operand : n.operands) live[static_cast<size_t>(operand)] = true;
    }
  };
  walk(walk, 0);
  return live;
}

void verify(const Graph& graph) {
  std::vector<bool> made(graph.num_values());
  const auto walk = [&](const auto& self, BlockId at) -> void {
    const Block& block = graph.block(at);
    for (const ValueId arg : block.args) made[static_cast<size_t>(arg)] = true;
    for (const NodeId id : block.nodes) {
      const Node& n = graph.node(id);
      for (size_t i = 0; i < n.operands.size(); ++i) {
        const Value& operand = graph.value(n.operands[i]);
        if (!made[static_cast<size_t>(n.operands[i])] || !graph.inside(at, operand.block)) {
          fail<ShapeError>("{}: {}: operand {} ({}) is used outside the loop or branch that makes it",
                           graph.path_name(n.path), n.op->name, i, to_string(operand.type));
        }
      }
      for (const BlockId inner : n.blocks) self(self, inner);
      for (const ValueId result : n.results) made[static_cast<size_t>(result)] = true;
    }
    for (const ValueId result : block.results) {
      if (!made[static_cast<size_t>(result)]) {
        fail<ShapeError>("a block returns {} before it is made", to_string(graph.value(result).type));
      }
    }
  };
  walk(walk, 0);
}

namespace {

/// What the values of a program, or of a small part of one, are called in its copy.
class Renaming {
 public:
  /// For a part of a program.
  Renaming() = default;
  /// For a whole program with so many values.
  explicit Renaming(size_t num_values) : all_(num_values, -1) {}

  void set(ValueId from, ValueId to) {
    if (all_.empty()) {
      some_[from] = to;
    } else {
      all_[static_cast<size_t>(from)] = to;
    }
  }
  /// The value itself where nothing else is said.
  ValueId of(ValueId id) const {
    if (all_.empty()) return mapped(some_, id);
    const ValueId to = all_[static_cast<size_t>(id)];
    return to < 0 ? id : to;
  }
  std::vector<ValueId> of(const std::vector<ValueId>& ids) const {
    std::vector<ValueId> out;
    out.reserve(ids.size());
    for (const ValueId id : ids) out.push_back(of(id));
    return out;
  }

 private:
  std::vector<ValueId> all_;
  ValueMap some_;
};

/// One lowering run: copies live nodes of `from` into `to`, calling the lowering of those that need it.
class Lowering {
 public:
  Lowering(Graph& from, Graph& to, const Target& target)
      : from_(from), to_(to), target_(target), live_(live_values(from)) {}

  void run() {
    Renaming map(from_.num_values());
    for (const Argument& arg : from_.arguments()) {
      map.set(arg.value, to_.argument(arg.name, from_.value(arg.value).type, arg.sharding).id());
    }
    copy_nodes(from_, 0, map);
    for (const Output& out : from_.outputs()) to_.output(out.name, to_.tensor(map.of(out.value)), out.sharding);
  }

 private:
  /// The number in `to_` of a path of `source`.
  int32_t path_in_copy(const Graph& source, int32_t path) {
    if (&source != &from_) return path;
    const auto at = static_cast<size_t>(path);
    if (at >= paths_.size()) paths_.resize(at + 1, -1);
    if (paths_[at] < 0) paths_[at] = to_.path_of(from_.path_name(path));
    return paths_[at];
  }

  bool is_live(const Graph& source, const Node& n) const {
    if (&source != &from_) return true;
    for (const ValueId result : n.results) {
      if (live_[static_cast<size_t>(result)]) return true;
    }
    return false;
  }

  /// Copies the nodes of a block of `source` to where `to_` is being written.
  void copy_nodes(Graph& source, BlockId block, Renaming& map) {
    const std::vector<NodeId> nodes = source.block(block).nodes;
    for (const NodeId id : nodes) {
      const Node& n = source.node(id);  // Stays where it is when nodes are added.
      if (!is_live(source, n)) continue;
      const Graph::PathGuard path(to_, path_in_copy(source, n.path));
      copy_node(source, n, map);
    }
  }

  void copy_node(Graph& source, const Node& n, Renaming& map) {
    std::vector<BlockId> blocks;
    for (const BlockId block : n.blocks) blocks.push_back(copy_block(source, block, map));
    if (n.op->lower == nullptr) {
      const NodeId copy =
          to_.add_node({.op = n.op, .operands = map.of(n.operands), .attrs = n.attrs, .blocks = std::move(blocks)},
                       result_types(source, n));
      for (size_t i = 0; i < n.results.size(); ++i) map.set(n.results[i], to_.node(copy).results[i]);
      return;
    }
    lower_into(source, n, std::move(blocks), map);
  }

  void lower_into(Graph& source, const Node& n, std::vector<BlockId> blocks, Renaming& map) {
    // A lowering may use ops that need lowering themselves: it is built in a block of its own, then copied.
    const BlockId scratch = to_.add_block(to_.current_block());
    std::vector<Tensor> results;
    {
      const Graph::BlockGuard guard(to_, scratch);
      const OpCall call{.graph = to_,
                        .op = *n.op,
                        .operands = to_.tensors(map.of(n.operands)),
                        .attrs = n.attrs,
                        .blocks = std::move(blocks),
                        .results = source.tensors(n.results)};
      results = n.op->lower(call, target_);
    }
    Renaming inner;
    copy_nodes(to_, scratch, inner);
    for (size_t i = 0; i < results.size(); ++i) map.set(n.results[i], inner.of(results[i].id()));
  }

  BlockId copy_block(Graph& source, BlockId block, Renaming& map) {
    const BlockId copy = to_.add_block(to_.current_block());
    const std::vector<ValueId> args = source.block(block).args;
    for (const ValueId arg : args) map.set(arg, to_.add_block_arg(copy, source.value(arg).type).id());
    const Graph::BlockGuard guard(to_, copy);
    copy_nodes(source, block, map);
    const std::vector<ValueId> results = source.block(block).results;
    to_.block(copy).results = map.of(results);
    return copy;
  }

  Graph& from_;
  Graph& to_;
  const Target& target_;
  std::vector<bool> live_;
  std::vector<int32_t> paths_;
};

}  // namespace

std::unique_ptr<Graph> lower(Graph& graph, const Target& target) {
  verify(graph);
  auto lowered = std::make_unique<Graph>();
  Lowering(graph, *lowered, target).run();
  return lowered;
}

}  // namespace pax
