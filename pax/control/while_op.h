#pragma once

#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// StableHLO's while: regions `condition` (gives one predicate) and `body`, each over arguments of the operands' types.
std::vector<Tensor> emit_while(Graph& graph, std::vector<Tensor> init, BlockId condition, BlockId body);

}  // namespace pax
