#include "pax/optim/adafactor.h"

#include <algorithm>
#include <numeric>

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/optim/update_rules.h"

namespace pax {
namespace {

constexpr const char* kV = "raw/v";
constexpr const char* kRows = "raw/v_row";
constexpr const char* kCols = "raw/v_col";
constexpr const char* kMomentum = "raw/ema";

/// The variable's own dimensions of largest and second largest size, later ones first among equals.
struct LargestDims {
  int64_t largest, second;
};

std::optional<LargestDims> factored_dims(const Adafactor::Config& config, const Leaf& leaf) {
  if (!config.factored || leaf.rank() < 2) return std::nullopt;
  const auto size = [&](int64_t dim) { return leaf.type.shape[leaf.num_prefix + dim]; };
  std::vector<int64_t> dims(static_cast<size_t>(leaf.rank()));
  std::iota(dims.begin(), dims.end(), 0);
  std::ranges::stable_sort(dims, {}, size);
  const LargestDims found{dims[dims.size() - 1], dims[dims.size() - 2]};
  if (size(found.second) < config.min_dim_size_to_factor) return std::nullopt;
  return found;
}

/// `old` (kept without dimension `dim`) blended with the mean of `x` over it; both with the dimension, of size 1.
Tensor blended_mean(Tensor old, Tensor x, int64_t dim, Tensor decay) {
  const Tensor now = reduce_mean(x, {dim}, Reduced::kKept);
  return blend(reshape(old, now.shape()), now, decay);
}

}  // namespace

std::vector<Slot> Adafactor::raw_slots(const Leaf& leaf) const {
  std::vector<Slot> slots;
  if (const auto dims = factored_dims(config_, leaf)) {
    slots.push_back(slot_without(leaf, kRows, dims->largest));
    slots.push_back(slot_without(leaf, kCols, dims->second));
  } else {
    slots.push_back(slot_like(leaf, kV));
  }
  if (config_.momentum) slots.push_back(slot_like(leaf, kMomentum, 0, config_.dtype_momentum));
  return slots;
}

LeafUpdate Adafactor::raw_update(const LeafStep& step) const {
  const Leaf& leaf = step.leaf;
  const Tensor t = convert(step.count, DType::kF32) - static_cast<double>(config_.decay_offset) + 1.0;
  const Tensor decay = 1.0 - power(t, -config_.decay_rate);
  const Tensor squared = square(step.grad) + config_.eps;
  LeafUpdate out;
  if (const auto dims = factored_dims(config_, leaf)) {
    const int64_t largest = leaf.num_prefix + dims->largest;
    const int64_t second = leaf.num_prefix + dims->second;
    const Tensor rows = blended_mean(step.slot(kRows), squared, largest, decay);
    const Tensor cols = blended_mean(step.slot(kCols), squared, second, decay);
    const Tensor mean = reduce_mean(rows, {second}, Reduced::kKept);
    out.update = step.grad * rsqrt(rows / mean) * rsqrt(cols);
    out.slots = {{kRows, squeeze(rows, {largest})}, {kCols, squeeze(cols, {second})}};
  } else {
    const Tensor v = blend(step.slot(kV), squared, decay);
    out.update = step.grad * rsqrt(v);
    out.slots = {{kV, v}};
  }
  if (config_.clip_threshold) out.update = cap(out.update, rms(leaf, out.update), *config_.clip_threshold);
  out.update = step.learning_rate * out.update;
  if (config_.multiply_by_parameter_scale) out.update = out.update * maximum(rms(leaf, step.weight), 1e-3);
  if (config_.momentum) {
    out.update = blend(convert(step.slot(kMomentum), DType::kF32), out.update, *config_.momentum);
    out.slots.emplace_back(kMomentum, convert(out.update, config_.dtype_momentum));
  }
  if (config_.weight_decay_rate) out.update = out.update + *config_.weight_decay_rate * step.weight;
  out.update = -out.update;
  return out;
}

template const config::ConfigType& config::type_of<Adafactor::Config>();
template const config::ConfigType& config::type_of<ShardedAdafactor::Config>();

}  // namespace pax
