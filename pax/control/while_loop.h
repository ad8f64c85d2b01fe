#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pax/ir/graph.h"

namespace pax {

/// Runs `body` on the state while `condition` gives true (a bool scalar), and returns the last state. Both may use
/// values from outside. No gradient: the number of turns is not known.
std::vector<Tensor> while_loop(Graph& graph, std::span<const Tensor> init,
                               const std::function<Tensor(std::span<const Tensor>)>& condition,
                               const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body);

}  // namespace pax
