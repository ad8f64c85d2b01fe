#include "pax/control/cond.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/autodiff/grad.h"
#include "pax/autodiff/vmap.h"
#include "pax/base/error.h"
#include "pax/ir/transform.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

// The op: operands are the index, then what the branches take; its regions take all but the index and use nothing else.

ResultTypes infer_case(const OpCall& call) {
  std::vector<TensorType> types;
  for (const ValueId id : call.graph.block(call.blocks[0]).results) types.push_back(call.graph.value(id).type);
  return types;
}

std::vector<Tensor> inputs_of(const OpCall& call) { return {call.operands.begin() + 1, call.operands.end()}; }

/// Writes `block` out where the graph is being written.
std::vector<Tensor> write_out(Graph& graph, BlockId block, std::span<const Tensor> args) {
  ValueMap map;
  const std::vector<ValueId> formal = graph.block(block).args;
  for (size_t i = 0; i < formal.size(); ++i) map[formal[i]] = args[i].id();
  return inline_block(graph, block, graph, map);
}

/// The gradient of the branch taken: a branch of the same index over inputs and cotangents.
Grads case_vjp(const OpCall& call, Tensor) {
  Graph& graph = call.graph;
  std::vector<Tensor> inputs = inputs_of(call);
  const size_t num_inputs = inputs.size();
  std::vector<size_t> given;
  for (size_t i = 0; i < call.grads.size(); ++i) {
    if (!call.grads[i]) continue;
    given.push_back(i);
    inputs.push_back(call.grads[i]);
  }
  std::vector<size_t> wanted;
  for (size_t i = 0; i < num_inputs; ++i) {
    if (call.wants(i + 1)) wanted.push_back(i);
  }
  std::vector<Branch> branches;
  for (const BlockId block : call.blocks) {
    branches.push_back([&, block](std::span<const Tensor> args) {
      const std::vector<Tensor> results = write_out(graph, block, args.first(num_inputs));
      std::vector<Tensor> outputs, wrt;
      for (const size_t i : given) outputs.push_back(results[i]);
      for (const size_t i : wanted) wrt.push_back(args[i]);
      std::vector<Tensor> grads = pullback(outputs, args.subspan(num_inputs), wrt);
      for (size_t k = 0; k < grads.size(); ++k) {
        if (!grads[k]) grads[k] = zeros_like(wrt[k]);
      }
      return grads;
    });
  }
  const std::vector<Tensor> results = switch_case(call.operand(0), branches, inputs);
  Grads grads(call.operands.size());
  for (size_t k = 0; k < wanted.size(); ++k) grads[wanted[k] + 1] = results[k];
  return grads;
}

/// An index per element: every branch runs for the whole batch, then each element takes its own.
std::vector<Tensor> choose_per_element(const OpCall& call, const std::vector<bool>& batched, int64_t size) {
  const std::vector<Tensor> inputs = inputs_of(call);
  const std::vector<bool> flags(batched.begin() + 1, batched.end());
  const auto last = static_cast<double>(call.blocks.size() - 1);
  // An index out of range means the last branch.
  Tensor index = call.operand(0);
  index = select(logical_or(lt(index, 0.0), gt(index, last)), full_like(index, last), index);
  std::vector<Tensor> chosen;
  for (size_t b = 0; b < call.blocks.size(); ++b) {
    std::vector<Tensor> results = inline_batched(call.graph, call.blocks[b], size, inputs, flags);
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].rank() == call.results[i].rank()) results[i] = repeat_in_front(results[i], size);
      if (b == 0) continue;
      const Tensor here = eq(index, static_cast<double>(b));
      results[i] = select(broadcast_in_dim(here, results[i].shape(), {0}), results[i], chosen[i]);
    }
    chosen = std::move(results);
  }
  return chosen;
}

std::vector<Tensor> batch_case(const OpCall& call, const std::vector<bool>& batched) {
  const int64_t size = batch_size(call, batched);
  if (batched[0]) return choose_per_element(call, batched, size);
  const std::vector<bool> flags(batched.begin() + 1, batched.end());
  std::vector<bool> forced(call.results.size());
  for (const BlockId block : call.blocks) {
    const BatchedBlock branch = batch_block(call.graph, block, size, flags);
    for (size_t i = 0; i < forced.size(); ++i) forced[i] = forced[i] || branch.results[i];
  }
  std::vector<BlockId> blocks;
  for (const BlockId block : call.blocks) {
    blocks.push_back(batch_block(call.graph, block, size, flags, forced).block);
  }
  return emit_all(call.graph, call.op, call.operands, call.attrs, std::move(blocks));
}

constinit const OpDef kStablehloCase{.name = "case", .infer = infer_case};

/// StableHLO's branches have no arguments: they use the values around them.
std::vector<Tensor> lower_case(const OpCall& call, const Target&) {
  Graph& graph = call.graph;
  std::vector<BlockId> blocks;
  for (const BlockId block : call.blocks) {
    blocks.push_back(graph.add_block(graph.current_block()));
    const Graph::BlockGuard guard(graph, blocks.back());
    for (const Tensor& result : write_out(graph, block, inputs_of(call))) {
      graph.block(blocks.back()).results.push_back(result.id());
    }
  }
  return emit_all(graph, kStablehloCase, {call.operand(0)}, {}, std::move(blocks));
}

constinit const OpDef kCase{
    .name = "switch_case", .infer = infer_case, .vjp = case_vjp, .batch = batch_case, .lower = lower_case};

BlockId trace_branch(Graph& graph, const Branch& branch, std::span<const Tensor> inputs) {
  const BlockId block = graph.add_block(graph.current_block());
  std::vector<Tensor> args;
  for (const Tensor& input : inputs) args.push_back(graph.add_block_arg(block, input.type()));
  {
    const Graph::BlockGuard guard(graph, block);
    for (const Tensor& result : branch(args)) graph.block(block).results.push_back(result.id());
  }
  graph.block(block).sides.clear();
  return block;
}

/// What the branches use from outside becomes an input of all of them.
void close_over(Graph& graph, const std::vector<BlockId>& blocks, std::vector<Tensor>& operands) {
  std::vector<ValueId> captured;
  for (const BlockId block : blocks) {
    for (const ValueId id : graph.captures(block)) {
      if (std::ranges::find(captured, id) == captured.end()) captured.push_back(id);
    }
  }
  for (const ValueId id : captured) operands.push_back(graph.tensor(id));
  for (const BlockId block : blocks) {
    std::unordered_map<ValueId, ValueId> inside;
    for (const ValueId id : captured) inside[id] = graph.add_block_arg(block, graph.value(id).type).id();
    graph.replace_uses(block, inside);
  }
}

void require_same_results(Graph& graph, const std::vector<BlockId>& blocks) {
  const std::vector<ValueId>& first = graph.block(blocks[0]).results;
  for (size_t b = 1; b < blocks.size(); ++b) {
    const std::vector<ValueId>& other = graph.block(blocks[b]).results;
    if (first.size() != other.size()) {
      fail_op(graph, "switch_case",
              fmt::format("branch 0 gives {} results but branch {} gives {}", first.size(), b, other.size()));
    }
    for (size_t i = 0; i < first.size(); ++i) {
      if (graph.value(first[i]).type == graph.value(other[i]).type) continue;
      fail_op(graph, "switch_case",
              fmt::format("result {} is {} in branch 0 but {} in branch {}", i, to_string(graph.value(first[i]).type),
                          to_string(graph.value(other[i]).type), b));
    }
  }
}

}  // namespace

std::vector<Tensor> switch_case(Tensor index, std::span<const Branch> branches, std::span<const Tensor> inputs) {
  if (!index) fail<ShapeError>("switch_case: the index is the null Tensor: it was never given");
  Graph& graph = index.graph();
  if (branches.empty()) fail_op(graph, "switch_case", "no branches are given");
  if (!is_integer(index.dtype()) || index.rank() != 0) {
    fail_op(graph, "switch_case",
            fmt::format("the index must be an integer scalar but is {}", to_string(index.type())));
  }
  std::vector<BlockId> blocks;
  for (const Branch& branch : branches) blocks.push_back(trace_branch(graph, branch, inputs));
  require_same_results(graph, blocks);
  std::vector<Tensor> operands{convert(index, DType::kS32)};
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  close_over(graph, blocks, operands);
  return emit_all(graph, kCase, std::move(operands), {}, std::move(blocks));
}

std::vector<Tensor> cond(Tensor pred, const Branch& on_true, const Branch& on_false, std::span<const Tensor> inputs) {
  if (!pred) fail<ShapeError>("cond: the predicate is the null Tensor: it was never given");
  if (pred.type() != TensorType{DType::kPred, {}}) {
    fail_op(pred.graph(), "cond", fmt::format("the predicate must be a bool scalar but is {}", to_string(pred.type())));
  }
  const Branch branches[] = {on_false, on_true};
  return switch_case(convert(pred, DType::kS32), branches, inputs);
}

}  // namespace pax
