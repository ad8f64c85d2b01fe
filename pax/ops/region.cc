#include "pax/ops/region.h"

namespace pax {

BlockId build_block(Graph& graph, const std::vector<TensorType>& types,
                    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body) {
  const BlockId block = graph.add_block(graph.current_block());
  std::vector<Tensor> args;
  for (const TensorType& type : types) args.push_back(graph.add_block_arg(block, type));
  const Graph::BlockGuard guard(graph, block);
  for (const Tensor& result : body(args)) graph.block(block).results.push_back(result.id());
  return block;
}

}  // namespace pax
