#include "pax/control/while_op.h"

#include "pax/ir/graph.h"

namespace pax {
namespace {

constinit const OpDef kWhile{.name = "while",
                             .infer = [](const OpCall& call) -> ResultTypes {
                               std::vector<TensorType> types;
                               for (const Tensor& operand : call.operands) types.push_back(operand.type());
                               return types;
                             },
                             .vjp = [](const OpCall& call, Tensor) -> Grads {
                               call.fail(
                                   "a loop without a known number of turns has no gradient; use for_loop or "
                                   "bounded_while_loop, or put stop_gradient around what feeds it");
                             },
                             .batch = batch_while};

}  // namespace

std::vector<Tensor> emit_while(Graph& graph, std::vector<Tensor> init, BlockId condition, BlockId body) {
  return emit_all(graph, kWhile, std::move(init), {}, {condition, body});
}

}  // namespace pax
