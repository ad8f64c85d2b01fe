#include "pax/layers/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/autodiff/vmap.h"
#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

// Letters of dimensions: m microbatches, s stages.

namespace pax {
namespace {

/// [B, …] -> [m, B/m, …]; microbatch i has rows i, i + m, …: how the batch is split over devices carries over.
Tensor to_microbatches(Tensor x, int64_t count) { return swap_dims(split_dim(x, 0, {x.dim(0) / count, count}), 0, 1); }

Tensor from_microbatches(Tensor x_m) { return merge_dims(swap_dims(x_m, 0, 1), 0, 1); }

/// A mask over stages, to be multiplied with values that have the stages in front.
Tensor like_value(Tensor mask_s, Tensor value) {
  return broadcast_in_dim(convert(mask_s, value.dtype()), value.shape(), {0});
}

class Pipeline {
 public:
  Pipeline(Graph& graph, const PipelineOptions& options, const PipelineStage& stage)
      : graph_(graph), options_(options), stage_(stage) {}

  Tensor run(Tensor x_m, std::vector<Tensor> shared_m) {
    shared_m_ = std::move(shared_m);
    const int64_t iterations = items() + options_.stages - 1;
    const Tensor padded = pad_dim(x_m, 0, 0, iterations - options_.microbatches);
    std::vector<Tensor> init{full(graph_, {DType::kS32, {}}, 0),
                             zeros_like(repeat_in_front(index_dim(x_m, 0, 0), options_.stages))};
    if (options_.circular_repeat > 1) init.push_back(zeros_like(x_m));
    const ScanOptions loop{.length = iterations, .remat = remat_policy(options_.checkpoint_policy)};
    const ScanStep all =
        scan(graph_, loop, init, std::span(&padded, 1),
             [&](std::span<const Tensor> carry, std::span<const Tensor> x) { return iterate(carry, x[0]); });
    hand_out_sides(all.ys);
    return slice_dim(all.ys[0], 0, iterations - options_.microbatches, iterations);
  }

 private:
  /// Turns of microbatches through the stages, one after the other.
  int64_t items() const { return options_.microbatches * options_.circular_repeat; }

  ScanStep iterate(std::span<const Tensor> carry, Tensor entering) {
    const Tensor i = carry[0], shifting = carry[1];
    const auto whole = [&](int64_t value) { return full_like(i, static_cast<double>(value)); };
    Tensor first = entering;
    if (options_.circular_repeat > 1) {
      const Tensor again = dynamic_index(carry[2], 0, remainder(i, whole(options_.microbatches)));
      first = select(lt(i, static_cast<double>(options_.microbatches)), entering, again);
    }
    std::vector<Tensor> inputs{expand_dims(first, 0)};
    if (options_.stages > 1) inputs.push_back(slice_dim(shifting, 0, 0, options_.stages - 1));
    const Tensor x_s = on_stages(checkpoint_name(concatenate(inputs, 0), "iteration_input"));
    const Tensor item_s = i - iota(graph_, {DType::kS32, {options_.stages}}, 0);
    valid_s_ = logical_and(ge(item_s, 0.0), lt(item_s, static_cast<double>(items())));
    const std::vector<Tensor> results = run_stages(x_s, item_s);
    const Tensor out_s = on_stages(results[0]), last = index_dim(out_s, 0, options_.stages - 1);
    ScanStep step{.carry = {i + whole(1), out_s}, .ys = {last}};
    step.ys.insert(step.ys.end(), results.begin() + 1, results.end());
    if (options_.circular_repeat > 1) {
      const Tensor leaving = maximum(i - whole(options_.stages - 1), 0.0);
      step.carry.push_back(dynamic_update_slice_dim(carry[2], expand_dims(last, 0), 0,
                                                    remainder(leaving, whole(options_.microbatches))));
    }
    return step;
  }

  /// Outputs of all stages, then what they leave on the way, masked.
  std::vector<Tensor> run_stages(Tensor x_s, Tensor item_s) {
    const Tensor clamped = clamp(0.0, item_s, static_cast<double>(items() - 1));
    const Tensor count = full_like(clamped, static_cast<double>(options_.microbatches));
    const Tensor microbatch_s = remainder(clamped, count);
    std::vector<Tensor> args{x_s, microbatch_s};
    for (const Tensor shared : shared_m_) args.push_back(on_stages(take(shared, microbatch_s, 0)));
    const BlockId block = build_stage(args);
    std::vector<bool> batched(args.size(), true);
    take_along_own(block, divide(clamped, count), args, batched);
    std::vector<Tensor> results = inline_batched(graph_, block, options_.stages, args, batched);
    for (size_t k = 0; k < results.size(); ++k) {
      const int64_t rank = graph_.value(graph_.block(block).results[k]).type.shape.rank();
      if (results[k].rank() == rank) results[k] = repeat_in_front(results[k], options_.stages);
      if (k > 0) results[k] = results[k] * like_value(valid_s_, results[k]);
    }
    return results;
  }

  /// The stage, for one of them. Results: its output, then its side results.
  BlockId build_stage(const std::vector<Tensor>& args) {
    const BlockId block = graph_.add_block(graph_.current_block());
    std::vector<Tensor> elements;
    for (const Tensor arg : args) {
      elements.push_back(graph_.add_block_arg(block, {arg.dtype(), arg.shape().without(0)}));
    }
    const Graph::BlockGuard guard(graph_, block);
    const Tensor out = stage_(elements[0], elements[1], std::span<const Tensor>(elements).subspan(2));
    if (out.type() != elements[0].type()) {
      fail<ShapeError>("{}: a stage of a pipeline gives {} but takes {}; they must be the same", graph_.path(),
                       to_string(out.type()), to_string(elements[0].type()));
    }
    graph_.block(block).results.push_back(out.id());
    sides_ = std::move(graph_.block(block).sides);
    graph_.block(block).sides.clear();
    for (const SideResult& side : sides_) {
      if (side.channel == "update") {
        fail<ShapeError>("{}: a layer in a pipeline changes a variable; only trainable ones may stand there",
                         side.name);
      }
      graph_.block(block).results.push_back(side.value.id());
    }
    return block;
  }

  /// Makes what each stage has of its own an argument of its block.
  void take_along_own(BlockId block, Tensor turn_s, std::vector<Tensor>& args, std::vector<bool>& batched) {
    std::unordered_map<ValueId, ValueId> replacement;
    for (const ValueId id : graph_.captures(block)) {
      const auto stacked = slices(id, options_.stage_loop), turns = slices(id, options_.circular_loop);
      if (!stacked && !turns) continue;
      args.push_back(on_stages(stacked ? of_turn(*stacked, turn_s) : take(*turns, turn_s, 0)));
      batched.push_back(true);
      replacement[id] = graph_.add_block_arg(block, graph_.value(id).type).id();
    }
    graph_.replace_uses(block, replacement);
  }

  /// What `id` is a slice of, if it is one of loop `loop`.
  std::optional<Tensor> slices(ValueId id, int64_t loop) const {
    const NodeId node = graph_.value(id).node;
    if (node < 0 || loop == 0 || graph_.node(node).op->name != "each_iteration") return std::nullopt;
    if (*graph_.node(node).attrs.find<int64_t>("loop") != loop) return std::nullopt;
    return graph_.tensor(graph_.node(node).operands[0]);
  }

  /// [s, …]: of values that each turn has for itself as well, those of the turn that each stage is at.
  Tensor of_turn(Tensor stacked, Tensor turn_s) const {
    const auto turns = slices(stacked.id(), options_.circular_loop);
    if (!turns) return stacked;
    Tensor chosen = index_dim(*turns, 0, 0);
    for (int64_t turn = 1; turn < options_.circular_repeat; ++turn) {
      const Tensor here = broadcast_in_dim(eq(turn_s, static_cast<double>(turn)), chosen.shape(), {0});
      chosen = select(here, index_dim(*turns, 0, turn), chosen);
    }
    return chosen;
  }

  /// Asks for the stages to be split over their axes, the rest as the compiler likes.
  Tensor on_stages(Tensor x_s) const {
    if (options_.split.empty()) return x_s;
    Sharding sharding{{static_cast<size_t>(x_s.rank()), {std::string(kOpenAxis)}}};
    sharding.dims[0] = options_.split;
    return sharding_constraint(x_s, std::move(sharding));
  }

  /// Means over microbatches of what stages left in each iteration: [iterations, s, …].
  void hand_out_sides(const std::vector<Tensor>& ys) {
    auto& out = graph_.block(graph_.current_block()).sides;
    for (size_t k = 0; k < sides_.size(); ++k) {
      const Tensor sum = reduce_sum(ys[k + 1], {0});
      out.push_back({sides_[k].channel, sides_[k].name, sum * (1.0 / static_cast<double>(options_.microbatches))});
    }
  }

  Graph& graph_;
  const PipelineOptions& options_;
  const PipelineStage& stage_;
  std::vector<Tensor> shared_m_;
  std::vector<SideResult> sides_;
  Tensor valid_s_;
};

}  // namespace

Tensor run_pipeline(Tensor x, std::span<const Tensor> shared, const PipelineOptions& options,
                    const PipelineStage& stage) {
  Graph& graph = x.graph();
  const int64_t count = options.microbatches;
  if (count < 1 || x.dim(0) % count != 0) {
    fail<ShapeError>("{}: a batch of {} rows is not {} microbatches of equal size; change one of them", graph.path(),
                     x.dim(0), count);
  }
  if (options.circular_repeat > 1 && count < options.stages) {
    fail<ShapeError>("{}: {} microbatches are too few for a circular pipeline of {} stages; use as many at least",
                     graph.path(), count, options.stages);
  }
  std::vector<Tensor> shared_m;
  for (const Tensor one : shared) shared_m.push_back(to_microbatches(one, count));
  return from_microbatches(Pipeline(graph, options, stage).run(to_microbatches(x, count), std::move(shared_m)));
}

}  // namespace pax
