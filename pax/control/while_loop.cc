#include "pax/control/while_loop.h"

#include "pax/base/error.h"
#include "pax/control/while_op.h"

namespace pax {
namespace {

std::vector<Tensor> add_args(Graph& graph, BlockId block, std::span<const Tensor> like) {
  std::vector<Tensor> args;
  for (const Tensor& value : like) args.push_back(graph.add_block_arg(block, value.type()));
  return args;
}

void require_state(const Graph& graph, std::span<const Tensor> init, std::span<const Tensor> next) {
  const std::string where = graph.path().empty() ? "while" : graph.path() + ": while";
  if (next.size() != init.size()) {
    fail<ShapeError>("{}: {} values go in but {} come out", where, init.size(), next.size());
  }
  for (size_t i = 0; i < init.size(); ++i) {
    if (next[i].type() == init[i].type()) continue;
    fail<ShapeError>("{}: value {} goes in as {} but comes out as {}", where, i, to_string(init[i].type()),
                     to_string(next[i].type()));
  }
}

}  // namespace

std::vector<Tensor> while_loop(Graph& graph, std::span<const Tensor> init,
                               const std::function<Tensor(std::span<const Tensor>)>& condition,
                               const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body) {
  const BlockId test = graph.add_block(graph.current_block());
  const std::vector<Tensor> test_args = add_args(graph, test, init);
  {
    const Graph::BlockGuard guard(graph, test);
    const Tensor holds = condition(test_args);
    graph.block(test).results = {holds.id()};
  }
  const BlockId turn = graph.add_block(graph.current_block());
  const std::vector<Tensor> turn_args = add_args(graph, turn, init);
  {
    const Graph::BlockGuard guard(graph, turn);
    const std::vector<Tensor> next = body(turn_args);
    require_state(graph, init, next);
    for (const Tensor& value : next) graph.block(turn).results.push_back(value.id());
  }
  graph.block(test).sides.clear();
  graph.block(turn).sides.clear();

  // What either takes from outside becomes part of the state that does not change.
  std::vector<Tensor> state(init.begin(), init.end());
  for (const BlockId block : {test, turn}) {
    std::unordered_map<ValueId, ValueId> inside;
    for (const ValueId id : graph.captures(block)) {
      state.push_back(graph.tensor(id));
      const TensorType type = graph.value(id).type;
      const ValueId arg = graph.add_block_arg(block, type).id();
      const Tensor other = graph.add_block_arg(block == test ? turn : test, type);
      graph.block(turn).results.push_back(block == turn ? arg : other.id());
      inside[id] = arg;
    }
    graph.replace_uses(block, inside);
  }
  std::vector<Tensor> last = emit_while(graph, std::move(state), test, turn);
  last.resize(init.size());
  return last;
}

}  // namespace pax
