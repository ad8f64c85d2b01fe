#include "pax/optim/shampoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "pax/control/while_loop.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/optim/inverse_root.h"
#include "pax/optim/update_rules.h"

namespace pax {
namespace {

constexpr const char* kDiagonal = "raw/diagonal_statistics";
constexpr const char* kMomentum = "raw/momentum";
constexpr const char* kGraftMomentum = "raw/diagonal_momentum";
constexpr double kTiny = 1e-16;
const DotOptions kExact{.precision = Precision::kHighest};

std::string statistics_name(size_t i) { return fmt::format("raw/statistics/{}", i); }
std::string preconditioner_name(size_t i) { return fmt::format("raw/preconditioners/{}", i); }

/// Dimension `dim` of `x` (its own, after `prefix` others) against all its others: [prefix..., n, rest].
struct Unfolded {
  Tensor matrix;
  Shape moved;  ///< with `dim` moved to the front
};
Unfolded unfold(Tensor x, int64_t prefix, int64_t dim) {
  const Tensor moved = move_dim(x, prefix + dim, prefix);
  std::vector<int64_t> dims(moved.shape().begin(), moved.shape().begin() + prefix + 1);
  dims.push_back(-1);
  return {reshape(moved, Shape(std::move(dims))), moved.shape()};
}
Tensor fold(const Unfolded& like, Tensor matrix, int64_t prefix, int64_t dim) {
  return move_dim(reshape(matrix, like.moved), prefix, prefix + dim);
}

/// `compute()` where `condition` holds, else `otherwise`, computed only when it is wanted.
Tensor only_if(Tensor condition, Tensor otherwise, const std::function<Tensor()>& compute) {
  const std::vector<Tensor> init{condition, otherwise};
  return while_loop(
      condition.graph(), init, [](std::span<const Tensor> state) { return state[0]; },
      [&](std::span<const Tensor> state) -> std::vector<Tensor> {
        return {full(state[0].graph(), {DType::kPred, {}}, 0), compute()};
      })[1];
}

Tensor every(Tensor count, int64_t steps) {
  return eq(remainder(count, full_like(count, static_cast<double>(steps))), 0.0);
}

/// One part of a dimension of `size`.
struct Part {
  int64_t start, size;
};
std::vector<Part> parts_of(int64_t size, int64_t block) {
  std::vector<Part> parts;
  for (int64_t start = 0; start < size; start += block) parts.push_back({start, std::min(block, size - start)});
  return parts;
}

}  // namespace

bool DistributedShampoo::preconditions(const Leaf& leaf) const {
  if (leaf.rank() < std::max<int64_t>(1, config_.skip_preconditioning_rank_lt)) return false;
  return std::ranges::none_of(
      leaf.own_dims(), [&](int64_t dim) { return leaf.type.shape[dim] > config_.skip_preconditioning_dim_size_gt; });
}

/// The variable's own shape with neighbouring dimensions merged while their product stays small.
Shape DistributedShampoo::merged_shape(const Leaf& leaf) const {
  std::vector<int64_t> own;
  for (const int64_t dim : leaf.own_dims()) own.push_back(leaf.type.shape[dim]);
  if (!config_.best_effort_shape_interpretation) return Shape(own);
  std::vector<int64_t> merged;
  int64_t product = 1;
  for (const int64_t size : own) {
    if (product * size <= config_.merge_small_dims_block_size) {
      product *= size;
      continue;
    }
    if (product > 1) merged.push_back(product);
    product = size;
  }
  if (product > 1 || merged.empty()) merged.push_back(product);
  return Shape(merged);
}

std::vector<DistributedShampoo::Block> DistributedShampoo::blocks(const Leaf& leaf) const {
  std::vector<Block> out{{}};
  for (const int64_t size : merged_shape(leaf)) {
    std::vector<Block> longer;
    for (const Block& block : out) {
      for (const Part& part : parts_of(size, config_.block_size)) {
        longer.push_back(block);
        longer.back().starts.push_back(part.start);
        longer.back().sizes.push_back(part.size);
      }
    }
    out = std::move(longer);
  }
  return out;
}

int64_t DistributedShampoo::root_order(const Leaf& leaf) const {
  return config_.exponent_override > 0 ? config_.exponent_override : 2 * merged_shape(leaf).rank();
}

std::vector<Slot> DistributedShampoo::raw_slots(const Leaf& leaf) const {
  std::vector<Slot> slots{slot_like(leaf, kDiagonal), slot_like(leaf, kMomentum), slot_like(leaf, kGraftMomentum)};
  if (!preconditions(leaf)) return slots;
  size_t index = 0;
  const auto prefix = leaf.type.shape.dims().first(static_cast<size_t>(leaf.num_prefix));
  for (const Block& block : blocks(leaf)) {
    for (const int64_t size : block.sizes) {
      Slot statistics{.name = statistics_name(index), .type = {DType::kF32, Shape{size, size}.prefixed(prefix)}};
      statistics.split.resize(static_cast<size_t>(statistics.type.shape.rank()));
      Slot preconditioner = statistics;
      preconditioner.name = preconditioner_name(index++);
      slots.push_back(std::move(statistics));
      slots.push_back(std::move(preconditioner));
    }
  }
  return slots;
}

/// The update of the method whose step length is taken over.
Tensor DistributedShampoo::grafted(const LeafStep& step, LeafUpdate& out) const {
  const auto type = static_cast<Grafting>(config_.graft_type);
  Tensor diagonal = step.slot(kDiagonal);
  Tensor update = step.grad;
  const bool normalized = type == Grafting::kRmspropNormalized || type == Grafting::kAdagradNormalized;
  if (normalized) update = update / (norm(step.leaf, update) + kTiny);
  switch (type) {
    case Grafting::kAdagrad:
    case Grafting::kAdagradNormalized:
      diagonal = diagonal + square(update);
      update = update / (sqrt(diagonal) + config_.diagonal_epsilon);
      break;
    case Grafting::kRmsprop:
    case Grafting::kRmspropNormalized: {
      const double share = config_.beta2 == 1 ? 1 : 1 - config_.beta2;
      diagonal = config_.beta2 * diagonal + share * square(update);
      update = update / (sqrt(diagonal) + config_.diagonal_epsilon);
      if (config_.clip_by_scaled_gradient_norm) {
        update = cap(update, rms(step.leaf, update), *config_.clip_by_scaled_gradient_norm);
      }
      break;
    }
    case Grafting::kSqrtN:
      update = sign(step.grad);
      break;
    case Grafting::kNone:
    case Grafting::kSgd:
      break;
  }
  out.slots.emplace_back(kDiagonal, diagonal);
  return update;
}

/// The gradient times the preconditioners of each block; brings statistics and preconditioners up to date.
Tensor DistributedShampoo::preconditioned(const LeafStep& step, LeafUpdate& out) const {
  const int64_t prefix = step.leaf.num_prefix;
  const auto prefix_dims = step.leaf.type.shape.dims().first(static_cast<size_t>(prefix));
  const Shape merged = merged_shape(step.leaf).prefixed(prefix_dims);
  const Tensor grad = reshape(step.grad, merged);
  const Tensor begins = eq(step.count, 0.0);
  const Tensor adds = every(step.count, config_.statistics_compute_steps);
  const Tensor takes_roots = every(step.count, config_.preconditioning_compute_steps);
  const InverseRootOptions root{.ridge = config_.matrix_epsilon,
                                .relative_ridge = config_.relative_matrix_epsilon,
                                .failure_threshold = config_.inverse_failure_threshold};
  const double share = config_.beta2 == 1 ? 1 : 1 - config_.beta2;
  Tensor result = zeros_like(grad);
  size_t index = 0;
  for (const Block& block : blocks(step.leaf)) {
    std::vector<int64_t> starts(static_cast<size_t>(prefix), 0), limits(prefix_dims.begin(), prefix_dims.end());
    for (size_t i = 0; i < block.sizes.size(); ++i) {
      starts.push_back(block.starts[i]);
      limits.push_back(block.starts[i] + block.sizes[i]);
    }
    const Tensor own = slice(grad, starts, limits);
    Tensor scaled = own;
    for (size_t dim = 0; dim < block.sizes.size(); ++dim, ++index) {
      const auto axis = static_cast<int64_t>(dim);
      const Tensor g = unfold(own, prefix, axis).matrix;
      const Tensor stored = step.slot(statistics_name(index));
      const Tensor identity = identity_like(stored);
      const Tensor before = select(begins, config_.matrix_epsilon * identity, stored);
      const Tensor moments = matmul(g, swap_dims(g, -2, -1), kExact);
      const Tensor statistics = select(adds, config_.beta2 * before + share * moments, before);
      const Tensor kept = select(begins, identity, step.slot(preconditioner_name(index)));
      const Tensor preconditioner =
          only_if(takes_roots, kept, [&] { return inverse_root(statistics, root_order(step.leaf), kept, root); });
      const Unfolded side = unfold(scaled, prefix, axis);
      scaled = fold(side, matmul(preconditioner, side.matrix, kExact), prefix, axis);
      out.slots.emplace_back(statistics_name(index), statistics);
      out.slots.emplace_back(preconditioner_name(index), preconditioner);
    }
    std::vector<int64_t> after;
    for (int64_t i = 0; i < merged.rank(); ++i) after.push_back(merged[i] - limits[static_cast<size_t>(i)]);
    result = result + pad(scaled, 0.0, starts, after);
  }
  return reshape(result, step.leaf.type.shape);
}

LeafUpdate DistributedShampoo::raw_update(const LeafStep& step) const {
  LeafUpdate out;
  Tensor graft = grafted(step, out);
  Tensor shampoo = graft;
  if (preconditions(step.leaf)) {
    shampoo = preconditioned(step, out);
    if (static_cast<Grafting>(config_.graft_type) != Grafting::kNone) {
      shampoo = shampoo * (norm(step.leaf, graft) / (norm(step.leaf, shampoo) + kTiny));
    }
  }
  const bool decays = config_.weight_decay != 0;
  if (decays && !config_.decoupled_weight_decay_from_momentum) {
    graft = graft + config_.weight_decay * step.weight;
    shampoo = shampoo + config_.weight_decay * step.weight;
  }
  const bool rate_outside = config_.decoupled_learning_rate_from_momentum;
  const auto rated = [&](Tensor x) { return rate_outside ? x : step.learning_rate * x; };
  const double share = config_.moving_average_for_momentum ? 1 - config_.beta1 : 1;
  const Tensor graft_momentum = config_.beta1 * step.slot(kGraftMomentum) + share * rated(graft);
  const Tensor shampoo_momentum = config_.beta1 * step.slot(kMomentum) + share * rated(shampoo);
  out.slots.emplace_back(kGraftMomentum, graft_momentum);
  out.slots.emplace_back(kMomentum, shampoo_momentum);
  const Tensor runs = ge(step.count, static_cast<double>(config_.start_preconditioning_step));
  Tensor update = select(runs, shampoo_momentum, graft_momentum);
  if (config_.nesterov) update = share * rated(select(runs, shampoo, graft)) + config_.beta1 * update;
  if (decays && config_.decoupled_weight_decay_from_momentum) {
    update = update + rated(config_.weight_decay * step.weight);
  }
  out.update = rate_outside ? -step.learning_rate * update : -update;
  return out;
}

template const config::ConfigType& config::type_of<DistributedShampoo::Config>();

}  // namespace pax
