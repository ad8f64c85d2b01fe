#include <fmt/format.h>

#include <algorithm>

#include "pax/base/pattern.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/optim/adafactor.h"
#include "pax/optim/checked.h"
#include "pax/optim/update_rules.h"

namespace pax {
namespace {

constexpr const char* kM = "raw/m";
constexpr const char* kScale = "raw/m_scale";
constexpr const char* kRows = "raw/vr";
constexpr const char* kCols = "raw/vc";
constexpr const char* kV = "raw/v";

/// Integers whose column along `dim` times its scale give `x`: the largest of each column is the largest integer.
struct Quantized {
  Tensor values;
  Tensor scale;  ///< with `dim`, of size 1
};

Quantized quantize(Tensor x, DType dtype, int64_t dim) {
  const double buckets = dtype == DType::kS8 ? 127 : 32767;
  const Tensor scale = reduce_max(abs(x), {dim}, Reduced::kKept) / buckets;
  const Tensor divisor = select(gt(scale, 0.0), scale, 1.0);
  return {convert(round_nearest_even(x / divisor), dtype), scale};
}

/// `kept` with a dimension of size 1 at `dim`.
Tensor with_dim(Tensor kept, int64_t dim) { return expand_dims(kept, dim); }

}  // namespace

void ShardedAdafactor::Config::validate(config::Errors& errors) const {
  OptimizerConfig::validate(errors);
  const bool adam = decay_method == "adam";
  if (!adam && decay_method != "pow") {
    errors.add("decay_method", fmt::format("\"{}\" is neither adam nor pow", decay_method));
  }
  if (adam && !(decay_adam > 0)) errors.add("decay_adam", fmt::format("{} must be above 0", decay_adam));
  if (decay_method == "pow" && !(decay_pow > 0)) {
    errors.add("decay_pow", fmt::format("{} must be above 0", decay_pow));
  }
  if (!is_floating(quantized_dtype) && quantized_dtype != DType::kS8 && quantized_dtype != DType::kS16) {
    errors.add("quantized_dtype",
               fmt::format("{} is none of int8, int16, bfloat16, float32", dtype_name(quantized_dtype)));
  }
}

ShardedAdafactor::ShardedAdafactor(const Config& config) : Optimizer(config), config_(checked(config)) {}

ShardedAdafactor::Config ShardedAdafactor::hparams_adam_b() {
  Config config;
  config.beta1 = 0.9;
  config.decay_method = "adam";
  config.decay_adam = 0.98;
  config.quantized_dtype = DType::kS8;
  return config;
}

std::optional<ShardedAdafactor::Factored> ShardedAdafactor::factored_dims(const Leaf& leaf) const {
  const int64_t rank = leaf.rank();
  if (!config_.factored || rank < 2) return std::nullopt;
  if (!config_.sort_factored_second_moment_dims) return Factored{rank - 1, rank - 2};
  const auto size = [&](int64_t dim) { return leaf.type.shape[leaf.num_prefix + dim]; };
  std::vector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim) dims.push_back(dim);
  std::ranges::stable_sort(dims, std::ranges::greater{}, size);
  if (size(dims[1]) < config_.min_dim_size_to_factor) return std::nullopt;
  return Factored{dims[0], dims[1]};
}

bool ShardedAdafactor::quantizes(const Leaf& leaf) const {
  return !is_floating(config_.quantized_dtype) && leaf.rank() >= 1;
}

std::vector<Slot> ShardedAdafactor::raw_slots(const Leaf& leaf) const {
  std::vector<Slot> slots;
  if (config_.beta1 != 0) {
    const bool quantized = quantizes(leaf);
    const bool in_type = quantized || is_floating(config_.quantized_dtype);
    slots.push_back(slot_like(leaf, kM, 0, in_type ? config_.quantized_dtype : DType::kF32));
    if (quantized) slots.push_back(slot_without(leaf, kScale, 0));
  }
  if (const auto dims = factored_dims(leaf)) {
    slots.push_back(slot_without(leaf, kRows, dims->row));
    slots.push_back(slot_without(leaf, kCols, dims->col));
  } else {
    slots.push_back(slot_like(leaf, kV));
  }
  return slots;
}

Tensor ShardedAdafactor::sound(Tensor x) const { return config_.maybe_inf_to_nan ? infinite_to_nan(x) : x; }

Tensor ShardedAdafactor::decay_rate(Tensor count) const {
  if (config_.decay_method == "adam") return bias_corrected_decay(count, config_.decay_adam);
  return 1.0 - power(convert(count, DType::kF32) + 1.0, -config_.decay_pow);
}

/// The gradient over the root of its second moments, capped; enters the moments in `out`.
Tensor ShardedAdafactor::scaled_gradient(const LeafStep& step, LeafUpdate& out) const {
  const Leaf& leaf = step.leaf;
  const Tensor grad = sound(step.grad);
  const Tensor squared = square(grad) + config_.epsilon1_grad_sq_reg;
  const Tensor decay = decay_rate(step.count);
  Tensor x;
  if (const auto dims = factored_dims(leaf)) {
    const int64_t row = leaf.num_prefix + dims->row;
    const int64_t col = leaf.num_prefix + dims->col;
    const Tensor rows = blend(step.slot(kRows), sound(reduce_mean(squared, {row})), decay);
    const Tensor cols = blend(step.slot(kCols), sound(reduce_mean(squared, {col})), decay);
    const Tensor long_term = reduce_mean(rows, {-1}, Reduced::kKept);
    x = grad * with_dim(1.0 / sqrt(rows / long_term), row) * with_dim(1.0 / sqrt(cols), col);
    out.slots.emplace_back(kRows, rows);
    out.slots.emplace_back(kCols, cols);
  } else {
    const Tensor v = blend(step.slot(kV), squared, decay);
    x = grad / sqrt(v);
    out.slots.emplace_back(kV, v);
  }
  if (!config_.clip_threshold) return x;
  return cap(x, sound(rms(leaf, x)), *config_.clip_threshold);
}

/// `x` averaged with the updates before it; enters momentum in `out`.
Tensor ShardedAdafactor::with_momentum(const LeafStep& step, Tensor x, LeafUpdate& out) const {
  if (config_.beta1 == 0) return x;
  const bool quantized = quantizes(step.leaf);
  const int64_t first = step.leaf.num_prefix;
  Tensor m = convert(step.slot(kM), DType::kF32);
  if (quantized) m = m * with_dim(step.slot(kScale), first);
  x = sound(blend(m, x, config_.beta1));
  if (quantized) {
    const Quantized q = quantize(x, config_.quantized_dtype, first);
    out.slots.emplace_back(kM, q.values);
    out.slots.emplace_back(kScale, squeeze(q.scale, {first}));
  } else {
    out.slots.emplace_back(kM, convert(x, step.slot(kM).dtype()));
  }
  return x;
}

std::optional<double> ShardedAdafactor::weight_decay_of(const Leaf& leaf) const {
  if (!config_.weight_decay) return std::nullopt;
  if (const double* one = std::get_if<double>(&*config_.weight_decay)) return *one;
  std::optional<double> rate;
  for (const auto& [pattern, value] : std::get<1>(*config_.weight_decay)) {
    if (Pattern(pattern).matches_start(leaf.name)) rate = value;
  }
  return rate;
}

bool ShardedAdafactor::adapts(const Leaf& leaf) const {
  if (!config_.layerwise_adaptation) return false;
  if (!config_.exclude_from_layerwise_adaptation) return true;
  return std::ranges::none_of(*config_.exclude_from_layerwise_adaptation,
                              [&](const std::string& pattern) { return Pattern(pattern).matches_start(leaf.name); });
}

LeafUpdate ShardedAdafactor::raw_update(const LeafStep& step) const {
  const Leaf& leaf = step.leaf;
  LeafUpdate out;
  Tensor scale = step.learning_rate;
  if (config_.multiply_by_parameter_scale) {
    scale = scale * maximum(rms(leaf, step.weight), config_.epsilon2_param_scale_reg);
  }
  Tensor x = with_momentum(step, scale * scaled_gradient(step, out), out);
  const bool exempt = config_.respect_skip_lp_regularization && leaf.skip_lp_regularization;
  if (const auto rate = weight_decay_of(leaf); rate && !exempt) x = x + *rate * step.learning_rate * step.weight;
  if (adapts(leaf)) {
    const Tensor w_rms = rms(leaf, step.weight);
    const Tensor x_rms = rms(leaf, x / scale) + config_.epsilon1_grad_sq_reg;
    x = x * select(logical_and(gt(w_rms, 0.0), gt(x_rms, 0.0)), w_rms / x_rms, 1.0);
  }
  out.update = -x;
  return out;
}

}  // namespace pax
