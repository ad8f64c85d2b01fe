#pragma once

#include <functional>
#include <vector>

#include "pax/ir/graph.h"

namespace pax {

/// A block with arguments of `types` inside the one being written, filled by `body`; for ops with regions.
BlockId build_block(Graph& graph, const std::vector<TensorType>& types,
                    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body);

}  // namespace pax
