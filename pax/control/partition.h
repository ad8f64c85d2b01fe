#pragma once

#include <unordered_map>
#include <vector>

#include "pax/control/remat_policy.h"

namespace pax {

/// A block that computes both a function and its gradient, cut in two: what can be known before the cotangents come,
/// and the rest. Between them go the residuals.
struct Partition {
  /// Values of the joint block that the first part must hand to the second.
  std::vector<ValueId> residuals;
  /// Arguments of the joint block that the second part reads directly.
  std::vector<ValueId> read_args;
  /// Nodes of the joint block that make up the second part, in order.
  std::vector<NodeId> second;
  /// Nodes that do not depend on `late` arguments, in order: the first part is among them.
  std::vector<NodeId> early;
};

/// Cuts `joint` for the values `wanted` (the gradients). Arguments in `late` (cotangents) are known only to the second
/// part; `always_kept` arguments (loop carries) must pass as residuals; all other arguments both parts can read.
/// `policy` says which values are kept; what it does not keep, the second part computes again.
Partition partition(const Graph& graph, BlockId joint, const std::vector<ValueId>& wanted,
                    const std::vector<ValueId>& late, const std::vector<ValueId>& always_kept,
                    const RematPolicy* policy);

}  // namespace pax
