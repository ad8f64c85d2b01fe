#include "pax/layers/batch_norm.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/cumulative.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

constexpr double kEpsilon = 0.001;

}  // namespace

Moments compute_moments(Tensor x, Tensor paddings, const MomentsOptions& options) {
  const Tensor mask = 1.0 - paddings;
  const auto sum = [&](Tensor values) {
    const Tensor total = reduce_sum(values, options.dims, options.reduced);
    return options.cumulative_axis ? cumsum(total, *options.cumulative_axis) : total;
  };
  const Tensor count = maximum(sum(full_like(x, 1.0) * mask), 1.0);
  const Tensor mean = sum(x * mask) / count;
  return {mean, sum(square(x - mean) * mask) / count};
}

BatchNorm::BatchNorm(const Config& config, const Scope& scope) : BaseNormalization(config, scope), config_(config) {
  const auto moving = [&](std::string_view name, double start) {
    return param(name, {.shape = {config.dim},
                        .init = WeightInit::constant(start),
                        .collection = Collection::kNonTrainable,
                        .tags = {.disallow_bfloat16_conversion = true}});
  };
  beta_ = param("beta", {.shape = {config.dim}, .init = WeightInit::constant(0.0)});
  gamma_ = param("gamma", {.shape = {config.dim}, .init = config.gamma_init});
  moving_mean_ = moving("moving_mean", 0.0);
  moving_variance_ = moving("moving_variance", 1.0);
}

Moments BatchNorm::moments(Tensor x, Tensor paddings) const {
  if (do_eval() || config_.force_eval_mode) return {moving_mean_, moving_variance_};
  std::vector<int64_t> dims;
  for (int64_t i = 0; i + 1 < x.rank(); ++i) dims.push_back(i);
  const Moments batch = compute_moments(x, paddings, {.dims = std::move(dims)});

  const auto moved = [&](std::string_view name, Tensor moving, Tensor now) {
    const Tensor next = moving * config_.decay + convert(now, moving.dtype()) * (1.0 - config_.decay);
    scope().update(name, next);
    return next;
  };
  const Moments moving{moved("moving_mean", moving_mean_, batch.mean),
                       moved("moving_variance", moving_variance_, batch.variance)};
  return config_.use_moving_avg_in_training ? moving : batch;
}

Tensor BatchNorm::fprop(Tensor x, Tensor paddings) const {
  if (x.rank() == 0) fail("input is a scalar; it must be [..., dim]");
  x = convert(x, fprop_dtype());
  if (paddings && paddings.rank() + 1 != x.rank()) {
    fail(fmt::format("paddings are {} but the input is {}; they must have its dimensions without the last",
                     to_string(paddings.type()), to_string(x.type())));
  }
  Tensor padded = paddings ? expand_dims(convert(paddings, x.dtype()), -1) : Tensor();
  if (!padded) {
    Shape shape = x.shape();
    shape[-1] = 1;
    padded = full(graph(), {x.dtype(), shape}, 0.0);
  }
  const Moments by = moments(x, padded);
  const Tensor mean = convert(by.mean, x.dtype()), variance = convert(by.variance, x.dtype());
  const Tensor deviation = sqrt(variance + kEpsilon);
  Tensor y = config_.use_moving_avg_in_training ? (x - mean) * (1.0 / deviation)
                                                : (x - mean) * ((gamma_ + 1.0) / deviation) + beta_;
  return paddings && config_.set_padded_output_to_zero ? y * (1.0 - padded) : y;
}

GroupNorm::GroupNorm(const Config& config, const Scope& scope)
    : BaseNormalization(config, scope),
      config_(config),
      group_size_(std::max(config.dim / config.num_groups, config.min_group_size)) {
  const int64_t rank = config.input_rank.value_or(0);
  if (rank < 3 || rank > 5) {
    pax::fail<ConfigError>("{}: input_rank is {}; it must be 3, 4 or 5", scope.path(), rank);
  }
  if (config.dim % config.min_group_size != 0 || config.min_group_size > config.dim) {
    pax::fail<ConfigError>("{}: dim {} is not a multiple of min_group_size {}", scope.path(), config.dim,
                           config.min_group_size);
  }
  if ((config.dim >= config.num_groups && config.dim % config.num_groups != 0) || config.dim % group_size_ != 0) {
    pax::fail<ConfigError>("{}: dim {} does not divide into {} groups of at least {}", scope.path(), config.dim,
                           config.num_groups, config.min_group_size);
  }
  Shape shape(std::vector<int64_t>(static_cast<size_t>(rank), 1));
  shape[-1] = config.dim;
  const auto vector_param = [&](std::string_view name) {
    return param(name, {.shape = shape, .init = WeightInit::constant(0.0), .tags = {.skip_lp_regularization = true}});
  };
  if (config.use_bias) beta_ = vector_param("beta");
  if (config.use_scale) gamma_ = vector_param("gamma");
}

Tensor GroupNorm::fprop(Tensor x, Tensor paddings) const {
  const int64_t rank = *config_.input_rank;
  if (x.rank() != rank || x.dim(-1) != config_.dim) {
    fail(fmt::format("input is {}, but input_rank is {} and dim {}", to_string(x.type()), rank, config_.dim));
  }
  if (config_.cumulative && !paddings) fail("cumulative statistics need paddings");
  x = convert(x, fprop_dtype());
  const Tensor grouped = split_dim(x, -1, {-1, group_size_});  // [B, T, ..., groups, group size]

  std::vector<int64_t> dims;
  for (int64_t i = config_.cumulative ? 2 : 1; i + 1 < rank; ++i) dims.push_back(i);
  dims.push_back(rank);
  const auto padded = [&](int64_t to_rank) {
    Shape shape(std::vector<int64_t>(static_cast<size_t>(to_rank), 1));
    shape[0] = x.dim(0), shape[1] = x.dim(1);
    return reshape(convert(paddings, x.dtype()), shape);
  };
  Moments by;
  if (paddings) {
    by = compute_moments(grouped, padded(rank + 1),
                         {.dims = dims,
                          .cumulative_axis = config_.cumulative ? std::optional<int64_t>(1) : std::nullopt,
                          .reduced = Reduced::kKept});
  } else {
    by.mean = reduce_mean(grouped, dims, Reduced::kKept);
    // Praxis stops the gradient of the mean here; it is zero anyway, as deviations add up to zero.
    by.variance = reduce_mean(square(grouped - by.mean), dims, Reduced::kKept);
  }
  Tensor y = merge_dims((grouped - by.mean) * rsqrt(by.variance + config_.epsilon), -2, -1);
  if (gamma_) y = y * (1.0 + gamma_);
  if (beta_) y = y + beta_;
  return paddings && config_.set_padded_output_to_zero ? y * (1.0 - padded(rank)) : y;
}

template const config::ConfigType& config::type_of<BatchNorm::Config>();
template const config::ConfigType& config::type_of<GroupNorm::Config>();

}  // namespace pax
