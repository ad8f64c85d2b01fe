#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pax/ir/graph.h"

namespace pax {

/// Runs `body(index, state)` `length` times, index 0, 1, … as an i32 scalar, and returns the last state. It has a
/// gradient.
std::vector<Tensor> for_loop(
    Graph& graph, int64_t length, std::span<const Tensor> init,
    const std::function<std::vector<Tensor>(Tensor index, std::span<const Tensor> state)>& body);

/// What a loop asks before each turn (a bool scalar), and what it does then.
struct LoopBody {
  std::function<Tensor(std::span<const Tensor> state)> condition;
  std::function<std::vector<Tensor>(std::span<const Tensor> state)> turn;
};

/// A while loop that ends after `max_turns` at the latest. It has a gradient; turns after the last one cost a branch.
std::vector<Tensor> bounded_while_loop(Graph& graph, int64_t max_turns, std::span<const Tensor> init,
                                       const LoopBody& body);

}  // namespace pax
