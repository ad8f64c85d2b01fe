#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// StableHLO's while: regions `condition` (gives one predicate) and `body`, each over arguments of the operands' types.
std::vector<Tensor> emit_while(Graph& graph, std::vector<Tensor> init, BlockId condition, BlockId body);

/// The while of a whole batch: one loop, until no element goes on.
std::vector<Tensor> batch_while(const OpCall& call, const std::vector<bool>& batched);

}  // namespace pax
