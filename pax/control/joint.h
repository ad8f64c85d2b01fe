#pragma once

#include <vector>

#include "pax/ir/graph.h"

namespace pax {

/// A copy of a body together with its gradient, in one block beside the present one.
struct Joint {
  BlockId block = -1;
  std::vector<ValueId> args;        ///< Copies of the body's arguments.
  std::vector<ValueId> results;     ///< Copies of the body's results.
  std::vector<ValueId> cotangents;  ///< Arguments: cotangents of the results for which they were asked, in order.
  std::vector<ValueId> grads;       ///< Gradients of the arguments for which they were asked, in order; never null.
};

/// Differentiates `body`: gradients of the arguments at `wanted` from cotangents of the results at `given`.
Joint make_joint(Graph& graph, BlockId body, const std::vector<size_t>& given, const std::vector<size_t>& wanted);

/// Results of `body` that depend on the arguments at `wanted`.
std::vector<bool> dependent_results(Graph& graph, BlockId body, const std::vector<size_t>& wanted);

}  // namespace pax
