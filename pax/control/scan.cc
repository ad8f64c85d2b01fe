#include "pax/control/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/control/joint.h"
#include "pax/control/partition.h"
#include "pax/control/scan_op.h"
#include "pax/ir/transform.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

TensorType stacked(const TensorType& type, int64_t length) {
  return {type.dtype, type.shape.prefixed(std::span(&length, 1))};
}

constinit const OpDef kEachIteration{
    .name = "each_iteration",
    .infer = [](const OpCall& call) -> ResultTypes {
      if (call.shape(0).rank() == 0) call.fail("a scalar has no slices");
      return TensorType{call.type(0).dtype, call.shape(0).without(0)};
    },
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      return {emit(call.op, {move_dim(call.operand(0), 1, 0)}, call.attrs)};
    },
    .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
      call.fail("a weight of a repeated layer is used outside of the loop that repeats it");
    }};

ResultTypes infer_scan(const OpCall& call) {
  const ScanLayout layout(call);
  std::vector<TensorType> types;
  const Block& body = call.graph.block(call.blocks[0]);
  for (size_t i = 0; i < body.results.size(); ++i) {
    const TensorType& type = call.graph.value(body.results[i]).type;
    types.push_back(i < layout.num_carry ? type : stacked(type, layout.length));
  }
  return types;
}

/// Puts what the body uses from outside into its arguments: slices of `loop` become scanned inputs, the rest constants.
void close_over(Graph& graph, BlockId body, int64_t loop, std::vector<Tensor>& xs, std::vector<Tensor>& constants) {
  std::unordered_map<ValueId, ValueId> replacement;
  std::vector<ValueId> invariant;
  for (const ValueId id : graph.captures(body)) {
    const Value value = graph.value(id);
    const bool sliced = value.node >= 0 && graph.node(value.node).op->name == kEachIteration.name &&
                        *graph.node(value.node).attrs.find<int64_t>("loop") == loop;
    if (!sliced) {
      invariant.push_back(id);
      continue;
    }
    xs.push_back(graph.tensor(graph.node(value.node).operands[0]));
    replacement[id] = graph.add_block_arg(body, value.type).id();
  }
  for (const ValueId id : invariant) {
    constants.push_back(graph.tensor(id));
    replacement[id] = graph.add_block_arg(body, graph.value(id).type).id();
  }
  graph.replace_uses(body, replacement);
}

void check_step(Graph& graph, const ScanOptions& options, std::span<const Tensor> init, std::span<const Tensor> xs,
                const ScanStep& step) {
  const std::string where = graph.path().empty() ? "scan" : graph.path() + ": scan";
  for (const Tensor& x : xs) {
    if (x.rank() > 0 && x.dim(0) == options.length) continue;
    fail<ShapeError>("{}: length is {} but a scanned input is {}", where, options.length, to_string(x.type()));
  }
  if (step.carry.size() != init.size()) {
    fail<ShapeError>("{}: {} values are carried in but {} come out", where, init.size(), step.carry.size());
  }
  for (size_t i = 0; i < init.size(); ++i) {
    if (step.carry[i].type() == init[i].type()) continue;
    fail<ShapeError>("{}: carry {} goes in as {} but comes out as {}", where, i, to_string(init[i].type()),
                     to_string(step.carry[i].type()));
  }
}

/// The carries that have a gradient when those of `wanted` arguments are asked for: grows until nothing is added.
std::vector<size_t> differentiated_args(Graph& graph, BlockId body, const ScanLayout& layout,
                                        std::vector<bool> wanted) {
  while (true) {
    std::vector<size_t> args;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i]) args.push_back(i);
    }
    const std::vector<bool> dependent = dependent_results(graph, body, args);
    bool grew = false;
    for (size_t i = 0; i < layout.num_carry; ++i) {
      if (!dependent[i] || wanted[i]) continue;
      wanted[i] = true;
      grew = true;
    }
    if (!grew) return args;
  }
}

/// Builds the loop that runs the second part of a joint block backwards.
class BackwardScan {
 public:
  BackwardScan(const OpCall& call)
      : call_(call),
        graph_(call.graph),
        layout_(call),
        wanted_(differentiated_args(graph_, call.blocks[0], layout_, call.wanted)) {}

  Grads run() {
    for (size_t i = 0; i < call_.results.size(); ++i) {
      const bool carried = i < layout_.num_carry;
      const bool wanted = std::ranges::find(wanted_, i) != wanted_.end();
      if (carried ? wanted : static_cast<bool>(call_.grads[i])) given_.push_back(i);
    }
    joint_ = make_joint(graph_, call_.blocks[0], given_, wanted_);
    const auto* policy = call_.attrs.find<std::shared_ptr<const OpExtension>>("policy");
    const std::vector<ValueId> carried(joint_.args.begin(),
                                       joint_.args.begin() + static_cast<int64_t>(layout_.num_carry));
    cut_ = partition(graph_, joint_.block, joint_.grads, joint_.cotangents, carried,
                     policy == nullptr ? nullptr : static_cast<const RematPolicy*>(policy->get()));
    const std::vector<Tensor> residuals = extend_forward();
    return build_backward(residuals);
  }

 private:
  bool is_const_arg(size_t i) const { return i >= layout_.num_carry + layout_.num_xs; }

  /// Lets the forward loop hand out the residuals, stacked.
  std::vector<Tensor> extend_forward() {
    const NodeId node = graph_.value(call_.results[0].id()).node;
    Block& forward = graph_.block(joint_.block);
    // Cloning reads the whole joint block later: the backward part is taken out of it only in build_backward.
    forward.results = joint_.results;
    std::vector<Tensor> residuals;
    for (const ValueId id : cut_.residuals) {
      forward.results.push_back(id);
      residuals.push_back(graph_.add_result(node, stacked(graph_.value(id).type, layout_.length)));
    }
    graph_.node(node).blocks = {joint_.block};
    return residuals;
  }

  Tensor slice_arg(BlockId block, Tensor stacked_value, std::vector<Tensor>& xs) {
    xs.push_back(stacked_value);
    return graph_.add_block_arg(block, {stacked_value.dtype(), stacked_value.shape().without(0)});
  }

  Grads build_backward(const std::vector<Tensor>& residuals) {
    const BlockId block = graph_.add_block(graph_.current_block());
    ValueMap map;
    std::vector<Tensor> init, xs, constants;
    std::vector<Tensor> sums;  // Running gradients of constants, as block arguments.
    // Arguments: carried cotangents, sums; scanned residuals, inputs, cotangents of ys; constants.
    for (size_t k = 0; k < given_.size() && given_[k] < layout_.num_carry; ++k) {
      const Tensor grad = call_.grads[given_[k]];
      init.push_back(grad ? grad : zeros_like(call_.results[given_[k]]));
      map[joint_.cotangents[k]] = graph_.add_block_arg(block, init.back().type()).id();
    }
    for (const size_t i : wanted_) {
      if (!is_const_arg(i)) continue;
      init.push_back(zeros_like(call_.operands[i]));
      sums.push_back(graph_.add_block_arg(block, init.back().type()));
    }
    for (size_t k = 0; k < residuals.size(); ++k) map[cut_.residuals[k]] = slice_arg(block, residuals[k], xs).id();
    for (const bool constant : {false, true}) {
      for (const ValueId id : cut_.read_args) {
        const auto i = static_cast<size_t>(graph_.value(id).index);
        if (is_const_arg(i) != constant) continue;
        if (!constant) {
          map[id] = slice_arg(block, call_.operands[i], xs).id();
          continue;
        }
        constants.push_back(call_.operands[i]);
        map[id] = graph_.add_block_arg(block, call_.operands[i].type()).id();
      }
      if (constant) break;
      for (size_t k = 0; k < given_.size(); ++k) {
        if (given_[k] < layout_.num_carry) continue;
        map[joint_.cotangents[k]] = slice_arg(block, call_.grads[given_[k]], xs).id();
      }
    }
    const std::vector<Tensor> step = copy_second_part(block, map, sums);
    return emit_backward(block, step, init, xs, constants);
  }

  /// Fills the backward body; returns the gradients of the wanted arguments, constants' added to their sums.
  std::vector<Tensor> copy_second_part(BlockId block, ValueMap& map, const std::vector<Tensor>& sums) {
    const Graph::BlockGuard guard(graph_, block);
    for (const NodeId id : cut_.second) {
      const Graph::PathGuard path(graph_, graph_.node(id).path);
      clone_node(graph_, id, graph_, map);
    }
    graph_.block(joint_.block).nodes = cut_.early;
    graph_.block(joint_.block).args = joint_.args;
    std::vector<Tensor> grads;
    size_t next_sum = 0;
    for (size_t k = 0; k < wanted_.size(); ++k) {
      const auto at = map.find(joint_.grads[k]);
      const Tensor own = graph_.tensor(at == map.end() ? joint_.grads[k] : at->second);
      grads.push_back(is_const_arg(wanted_[k]) ? sums[next_sum++] + own : own);
    }
    return grads;
  }

  Grads emit_backward(BlockId block, const std::vector<Tensor>& step, const std::vector<Tensor>& init,
                      const std::vector<Tensor>& xs, const std::vector<Tensor>& constants) {
    std::vector<size_t> order;  // Position in wanted_ of each result: carries, constants' sums, then scanned inputs.
    for (const auto& in_group :
         {+[](const BackwardScan&s, size_t i) { return i < s.layout_.num_carry; },
          +[](const BackwardScan&s, size_t i) { return s.is_const_arg(i); },
          +[](const BackwardScan&s, size_t i) { return i >= s.layout_.num_carry && !s.is_const_arg(i); }}) {
      for (size_t k = 0; k < wanted_.size(); ++k) {
        if (in_group(*this, wanted_[k])) order.push_back(k);
      }
    }
    for (const size_t k : order) graph_.block(block).results.push_back(step[k].id());
    const ScanSpec spec{.length = layout_.length, .reverse = !layout_.reverse};
    const std::vector<Tensor> results = emit_scan(graph_, spec, block, init, xs, constants);
    Grads grads(call_.operands.size());
    for (size_t k = 0; k < order.size(); ++k) grads[wanted_[order[k]]] = results[k];
    return grads;
  }

  const OpCall& call_;
  Graph& graph_;
  const ScanLayout layout_;
  const std::vector<size_t> wanted_;  // Arguments of the body whose gradient is built.
  std::vector<size_t> given_;         // Results of the body that have cotangents.
  Joint joint_;
  Partition cut_;
};

constinit const OpDef kScan{.name = "scan",
                            .infer = infer_scan,
                            .vjp = [](const OpCall& call, Tensor) -> Grads { return BackwardScan(call).run(); },
                            .batch = batch_scan,
                            .lower = lower_scan};

}  // namespace

ScanLayout::ScanLayout(const OpCall& call)
    : length(call.attr<int64_t>("length")),
      reverse(call.attr<bool>("reverse")),
      num_carry(static_cast<size_t>(call.attr<int64_t>("num_carry"))),
      num_xs(static_cast<size_t>(call.attr<int64_t>("num_xs"))) {}

std::vector<Tensor> emit_scan(Graph& graph, const ScanSpec& spec, BlockId body, const std::vector<Tensor>& init,
                              const std::vector<Tensor>& xs, const std::vector<Tensor>& constants) {
  std::vector<Tensor> operands = init;
  operands.insert(operands.end(), xs.begin(), xs.end());
  operands.insert(operands.end(), constants.begin(), constants.end());
  Attrs attrs{{"length", spec.length},
              {"reverse", spec.reverse},
              {"num_carry", static_cast<int64_t>(init.size())},
              {"num_xs", static_cast<int64_t>(xs.size())}};
  if (spec.remat) attrs.set("policy", std::shared_ptr<const OpExtension>(spec.remat));
  return emit_all(graph, kScan, std::move(operands), std::move(attrs), {body});
}

ScanStep scan(Graph& graph, const ScanOptions& options, std::span<const Tensor> init, std::span<const Tensor> xs,
              const std::function<ScanStep(std::span<const Tensor>, std::span<const Tensor>)>& body) {
  const BlockId block = graph.add_block(graph.current_block());
  std::vector<Tensor> carry_args, x_args;
  for (const Tensor& value : init) carry_args.push_back(graph.add_block_arg(block, value.type()));
  for (const Tensor& x : xs) x_args.push_back(graph.add_block_arg(block, {x.dtype(), x.shape().without(0)}));
  ScanStep step;
  {
    const Graph::BlockGuard guard(graph, block);
    step = body(carry_args, x_args);
  }
  check_step(graph, options, init, xs, step);
  const std::vector<SideResult> sides = std::move(graph.block(block).sides);
  graph.block(block).sides.clear();
  for (const Tensor& value : step.carry) graph.block(block).results.push_back(value.id());
  for (const Tensor& y : step.ys) graph.block(block).results.push_back(y.id());
  for (const SideResult& side : sides) graph.block(block).results.push_back(side.value.id());

  std::vector<Tensor> all_xs(xs.begin(), xs.end()), constants;
  close_over(graph, block, options.loop, all_xs, constants);
  const ScanSpec spec{.length = options.length, .reverse = options.reverse, .remat = options.remat};
  const std::vector<Tensor> results =
      emit_scan(graph, spec, block, std::vector<Tensor>(init.begin(), init.end()), all_xs, constants);

  const auto num_carry = static_cast<int64_t>(init.size());
  const auto num_ys = static_cast<int64_t>(step.ys.size());
  for (size_t i = 0; i < sides.size(); ++i) {
    graph.block(graph.current_block())
        .sides.push_back({sides[i].channel, sides[i].name, results[static_cast<size_t>(num_carry + num_ys) + i]});
  }
  return {.carry = {results.begin(), results.begin() + num_carry},
          .ys = {results.begin() + num_carry, results.begin() + num_carry + num_ys}};
}

namespace {

/// `value` with the slices of a turn in the place of `each_iteration`, or itself.
Tensor at_turn(Graph& graph, std::span<const Iteration> turn, Tensor value) {
  const NodeId id = graph.value(value.id()).node;
  if (id < 0 || graph.node(id).op->name != kEachIteration.name) return value;
  const int64_t loop = *graph.node(id).attrs.find<int64_t>("loop");
  const Tensor stacked_value = at_turn(graph, turn, graph.tensor(graph.node(id).operands[0]));
  const auto at = std::ranges::find(turn, loop, &Iteration::loop);
  return at == turn.end() ? each_iteration(stacked_value, loop) : index_dim(stacked_value, 0, at->index);
}

}  // namespace

std::vector<Tensor> write_iteration(Graph& graph, std::span<const Iteration> turn,
                                    const std::function<std::vector<Tensor>()>& body) {
  const BlockId block = graph.add_block(graph.current_block());
  {
    const Graph::BlockGuard guard(graph, block);
    for (const Tensor& result : body()) graph.block(block).results.push_back(result.id());
  }
  ValueMap map;
  for (const ValueId id : graph.captures(block)) {
    const Tensor slice = at_turn(graph, turn, graph.tensor(id));
    if (slice.id() != id) map[id] = slice.id();
  }
  return inline_block(graph, block, graph, map);
}

Tensor each_iteration(Tensor stacked_value, int64_t loop) {
  return emit(kEachIteration, {stacked_value}, {{"loop", loop}});
}

}  // namespace pax
