#include "pax/control/scan_op.h"
#include "pax/control/while_op.h"
#include "pax/ir/transform.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

/// The while's state: the counter, then carries, stacked ys, scanned inputs, constants.
class ScanLowering {
 public:
  explicit ScanLowering(const OpCall& call) : call_(call), graph_(call.graph), layout_(call) {}

  std::vector<Tensor> run() {
    const size_t num_results = call_.results.size();
    std::vector<Tensor> init{scalar(0)};
    init.insert(init.end(), call_.operands.begin(), call_.operands.begin() + static_cast<int64_t>(layout_.num_carry));
    for (size_t i = layout_.num_carry; i < num_results; ++i) init.push_back(full(graph_, call_.results[i].type(), 0));
    init.insert(init.end(), call_.operands.begin() + static_cast<int64_t>(layout_.num_carry), call_.operands.end());

    const BlockId condition = graph_.add_block(graph_.current_block());
    const std::vector<Tensor> condition_args = args_of(condition, init);
    {
      const Graph::BlockGuard guard(graph_, condition);
      graph_.block(condition).results = {lt(condition_args[0], scalar(layout_.length)).id()};
    }
    const BlockId body = graph_.add_block(graph_.current_block());
    const std::vector<Tensor> state = args_of(body, init);
    {
      const Graph::BlockGuard guard(graph_, body);
      for (const Tensor& next : iterate(state)) graph_.block(body).results.push_back(next.id());
    }
    const std::vector<Tensor> last = emit_while(graph_, init, condition, body);
    return {last.begin() + 1, last.begin() + 1 + static_cast<int64_t>(num_results)};
  }

 private:
  Tensor scalar(int64_t value) { return full(graph_, {DType::kS32, {}}, static_cast<double>(value)); }

  std::vector<Tensor> args_of(BlockId block, const std::vector<Tensor>& init) {
    std::vector<Tensor> args;
    for (const Tensor& value : init) args.push_back(graph_.add_block_arg(block, value.type()));
    return args;
  }

  std::vector<Tensor> starts(Tensor index, int64_t rank) {
    std::vector<Tensor> out{index};
    while (static_cast<int64_t>(out.size()) < rank) out.push_back(scalar(0));
    return out;
  }

  std::vector<Tensor> iterate(const std::vector<Tensor>& state) {
    const size_t num_results = call_.results.size();
    const Tensor index = layout_.reverse ? scalar(layout_.length - 1) - state[0] : state[0];
    const std::vector<ValueId> args = graph_.block(call_.blocks[0]).args;
    ValueMap map;
    for (size_t i = 0; i < args.size(); ++i) {
      if (i < layout_.num_carry) {
        map[args[i]] = state[1 + i].id();
        continue;
      }
      const Tensor input = state[1 + num_results + i - layout_.num_carry];
      map[args[i]] = (i < layout_.num_carry + layout_.num_xs ? slice_at(input, index) : input).id();
    }
    const std::vector<Tensor> results = inline_block(graph_, call_.blocks[0], graph_, map);
    std::vector<Tensor> next{state[0] + scalar(1)};
    next.insert(next.end(), results.begin(), results.begin() + static_cast<int64_t>(layout_.num_carry));
    for (size_t i = layout_.num_carry; i < num_results; ++i) {
      const Tensor update = expand_dims(results[i], 0);
      next.push_back(dynamic_update_slice(state[1 + i], update, starts(index, update.rank())));
    }
    next.insert(next.end(), state.begin() + 1 + static_cast<int64_t>(num_results), state.end());
    return next;
  }

  Tensor slice_at(Tensor stacked, Tensor index) {
    std::vector<int64_t> sizes(stacked.shape().begin(), stacked.shape().end());
    sizes[0] = 1;
    return reshape(dynamic_slice(stacked, starts(index, stacked.rank()), sizes), stacked.shape().without(0));
  }

  const OpCall& call_;
  Graph& graph_;
  const ScanLayout layout_;
};

}  // namespace

std::vector<Tensor> lower_scan(const OpCall& call, const Target&) { return ScanLowering(call).run(); }

}  // namespace pax
