#include "pax/control/for_loop.h"

#include "pax/control/cond.h"
#include "pax/control/scan.h"
#include "pax/ops/constant.h"

namespace pax {

std::vector<Tensor> for_loop(
    Graph& graph, int64_t length, std::span<const Tensor> init,
    const std::function<std::vector<Tensor>(Tensor index, std::span<const Tensor> state)>& body) {
  const Tensor indices = iota(graph, {DType::kS32, {length}}, 0);
  return scan(graph, {.length = length}, init, std::span(&indices, 1),
              [&](std::span<const Tensor> state, std::span<const Tensor> index) {
                return ScanStep{.carry = body(index[0], state), .ys = {}};
              })
      .carry;
}

std::vector<Tensor> bounded_while_loop(Graph& graph, int64_t max_turns, std::span<const Tensor> init,
                                       const LoopBody& body) {
  return for_loop(graph, max_turns, init, [&](Tensor, std::span<const Tensor> state) {
    const Branch stay = [](std::span<const Tensor> values) {
      return std::vector<Tensor>(values.begin(), values.end());
    };
    return cond(body.condition(state), body.turn, stay, state);
  });
}

}  // namespace pax
