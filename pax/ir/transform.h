#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "pax/ir/graph.h"

namespace pax {

/// Values of one place that stand for values of another.
using ValueMap = std::unordered_map<ValueId, ValueId>;

/// Copies node `id` of `from` to where `to` is being written; operands go through `map` (those not in it stay as they
/// are, which needs `from` to be `to`), results are entered in it. Regions are copied deep.
void clone_node(const Graph& from, NodeId id, Graph& to, ValueMap& map);

/// A copy of `block` inside `to`'s current block, arguments and results included; `map` gains all its values.
BlockId clone_block(const Graph& from, BlockId block, Graph& to, ValueMap& map);

/// Copies the nodes of `block` (not its arguments, which `map` must give) to where `to` is being written, and returns
/// its results there.
std::vector<Tensor> inline_block(const Graph& from, BlockId block, Graph& to, ValueMap& map);

/// For each value of `graph`, whether anything that counts depends on it: outputs of the program, or results of the
/// blocks of live nodes.
std::vector<bool> live_values(const Graph& graph);

/// Throws ShapeError unless every operand is made before it is used and in a block that encloses the use, and every
/// result has the type that its op's rule gives. Programs built by ops alone always pass.
void verify(const Graph& graph);

/// The same program with every op that StableHLO does not have replaced by its lowering for `target`, and dead code
/// left out.
std::unique_ptr<Graph> lower(Graph& graph, const Target& target);

}  // namespace pax
