#include "pax/autodiff/vmap.h"
#include "pax/control/while_op.h"
#include "pax/ir/graph.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/region.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

/// The while of a batch. Elements whose condition no longer holds keep their state while others go on.
class BatchedWhile {
 public:
  BatchedWhile(const OpCall& call, const std::vector<bool>& batched)
      : call_(call), graph_(call.graph), size_(batch_size(call, batched)), batched_(batched) {}

  std::vector<Tensor> run() {
    BatchedBlock test;
    BatchedBlock turn = grow();
    while (true) {
      test = batch_block(graph_, call_.blocks[0], size_, batched_);
      if (!test.results[0] || !add_changing()) break;
      turn = grow();
    }
    std::vector<Tensor> init = call_.operands;
    for (size_t i = 0; i < init.size(); ++i) {
      if (batched_[i] && init[i].rank() == call_.results[i].rank()) init[i] = repeat_in_front(init[i], size_);
    }
    if (!test.results[0]) return emit_while(graph_, std::move(init), test.block, turn.block);
    return run_until_all_are_done(std::move(init));
  }

 private:
  /// The body; what one turn makes batched is batched from the start.
  BatchedBlock grow() {
    while (true) {
      BatchedBlock turn = batch_block(graph_, call_.blocks[1], size_, batched_, batched_);
      if (turn.results == batched_) return turn;
      batched_ = turn.results;
    }
  }

  /// Elements stop at different turns, so all state that changes differs between them. True if something was added.
  bool add_changing() {
    const Block& body = graph_.block(call_.blocks[1]);
    bool added = false;
    for (size_t i = 0; i < batched_.size(); ++i) {
      if (batched_[i] || body.results[i] == body.args[i]) continue;
      batched_[i] = true;
      added = true;
    }
    return added;
  }

  std::vector<Tensor> run_until_all_are_done(std::vector<Tensor> init) {
    std::vector<TensorType> types;
    for (const Tensor& value : init) types.push_back(value.type());
    const auto holds = [&](const std::vector<Tensor>& state) {
      return inline_batched(graph_, call_.blocks[0], size_, state, batched_)[0];
    };
    const BlockId any_holds = build_block(graph_, types, [&](const std::vector<Tensor>& state) {
      return std::vector<Tensor>{reduce_or(holds(state), {0})};
    });
    const BlockId turn = build_block(graph_, types, [&](const std::vector<Tensor>& state) {
      const Tensor going = holds(state);
      std::vector<Tensor> next = inline_batched(graph_, call_.blocks[1], size_, state, batched_);
      for (size_t i = 0; i < next.size(); ++i) {
        if (!batched_[i] || next[i] == state[i]) continue;
        if (next[i].rank() < state[i].rank()) next[i] = repeat_in_front(next[i], size_);
        next[i] = select(broadcast_in_dim(going, next[i].shape(), {0}), next[i], state[i]);
      }
      return next;
    });
    return emit_while(graph_, std::move(init), any_holds, turn);
  }

  const OpCall& call_;
  Graph& graph_;
  const int64_t size_;
  std::vector<bool> batched_;
};

}  // namespace

std::vector<Tensor> batch_while(const OpCall& call, const std::vector<bool>& batched) {
  return BatchedWhile(call, batched).run();
}

}  // namespace pax
