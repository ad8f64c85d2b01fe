#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// A value: who makes it and its type.
struct Value {
  TensorType type;
  NodeId node = -1;   ///< -1: an argument of `block`.
  int32_t index = 0;  ///< Which result, or which argument.
  BlockId block = 0;
};

/// One application of an op.
struct Node {
  const OpDef* op = nullptr;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Attrs attrs;
  std::vector<BlockId> blocks;
  int32_t path = 0;  ///< Of the layer that built it: see Graph::path_name.
};

/// A named result that a layer deep inside produced on the way (auxiliary loss, summary, new value of a state
/// variable). Loops stack it and hand it to the block around them.
struct SideResult {
  std::string channel;  ///< "aux_loss", "summary", "update", …
  std::string name;
  Tensor value;
};

/// A list of nodes with arguments and results: the program itself, or the body of a loop or branch.
struct Block {
  BlockId parent = -1;
  std::vector<ValueId> args;
  std::vector<NodeId> nodes;
  std::vector<ValueId> results;
  std::vector<SideResult> sides;
};

/// An input of the whole program.
struct Argument {
  std::string name;
  ValueId value;
  std::optional<Sharding> sharding;
};

/// An output of the whole program. An output with the name of an argument is its next value: the buffer is donated.
struct Output {
  std::string name;
  ValueId value;
  std::optional<Sharding> sharding;
};

/// A program being built: all values, nodes and blocks of one trace. Block 0 is the entry. Ops are added to the block
/// that is being written (`current_block`), in order; nothing is ever removed: what is not used is not written out.
class Graph {
 public:
  Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// A named input. Throws ShapeError if the name is taken by an input of another type; returns it if of the same.
  Tensor argument(std::string_view name, TensorType type, std::optional<Sharding> sharding = {});
  /// A named output of the program.
  void output(std::string_view name, Tensor value, std::optional<Sharding> sharding = {});

  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<Output>& outputs() const { return outputs_; }

  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  Node& node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  const Block& block(BlockId id) const { return blocks_[static_cast<size_t>(id)]; }
  Block& block(BlockId id) { return blocks_[static_cast<size_t>(id)]; }
  size_t num_nodes() const { return nodes_.size(); }
  size_t num_values() const { return values_.size(); }

  Tensor tensor(ValueId id) { return {*this, id}; }
  std::vector<Tensor> tensors(std::span<const ValueId> ids);
  /// The node as its op's rules see it.
  OpCall call(NodeId id);

  BlockId current_block() const { return current_block_; }
  BlockId add_block(BlockId parent);
  Tensor add_block_arg(BlockId block, TensorType type);
  NodeId add_node(Node node, std::span<const TensorType> result_types);
  /// One more result of a node that is already there: a loop that must also hand out what its gradient needs.
  Tensor add_result(NodeId node, TensorType type);

  /// True if `block` is `ancestor` or lies inside it.
  bool inside(BlockId block, BlockId ancestor) const;
  /// Puts `to[i]` in the place of every use of `from[i]` in `block`, blocks inside it included.
  void replace_uses(BlockId block, const std::unordered_map<ValueId, ValueId>& replacement);
  /// Values used inside `block` but made outside of it, in order of first use.
  std::vector<ValueId> captures(BlockId block) const;

  /// A new token that ties `each_iteration` values to their loop.
  int64_t new_loop() { return ++last_loop_; }

  /// Layer path of what is being built now, "lm/transformer/x_layers_0".
  const std::string& path() const { return paths_[static_cast<size_t>(current_path_)]; }
  const std::string& path_name(int32_t path) const { return paths_[static_cast<size_t>(path)]; }
  /// The number of a path, known before or not.
  int32_t path_of(const std::string& path) { return intern_path(path); }

  /// While it lives, new nodes go to `block`.
  class BlockGuard {
   public:
    BlockGuard(Graph& graph, BlockId block) : graph_(graph), previous_(graph.current_block_) {
      graph.current_block_ = block;
    }
    ~BlockGuard() { graph_.current_block_ = previous_; }
    BlockGuard(const BlockGuard&) = delete;
    BlockGuard& operator=(const BlockGuard&) = delete;

   private:
    Graph& graph_;
    BlockId previous_;
  };

  /// While it lives, new nodes belong to `path/name` (or to a path already known).
  class PathGuard {
   public:
    PathGuard(Graph& graph, std::string_view name);
    PathGuard(Graph& graph, int32_t path);
    ~PathGuard() { graph_.current_path_ = previous_; }
    PathGuard(const PathGuard&) = delete;
    PathGuard& operator=(const PathGuard&) = delete;

   private:
    Graph& graph_;
    int32_t previous_;
  };

 private:
  int32_t intern_path(const std::string& path);

  std::deque<Value> values_;
  std::deque<Node> nodes_;
  std::deque<Block> blocks_;
  std::vector<Argument> arguments_;
  std::vector<Output> outputs_;
  std::unordered_map<std::string, size_t> argument_index_;
  std::deque<std::string> paths_;
  std::unordered_map<std::string, int32_t> path_index_;
  BlockId current_block_ = 0;
  int32_t current_path_ = 0;
  int64_t last_loop_ = 0;
};

}  // namespace pax
