#include "pax/layers/convolutions/poolings.h"

#include <fmt/format.h>

#include <limits>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

/// What no value is below.
double least(DType dtype) {
  if (is_floating(dtype)) return -std::numeric_limits<double>::infinity();
  return dtype == DType::kS32 ? std::numeric_limits<int32_t>::min() : 0;
}

/// `p` with dimensions of size 1 at the end, up to the rank of `x`.
Tensor like_rank_of(Tensor x, Tensor p) {
  while (p.rank() < x.rank()) p = expand_dims(p, -1);
  return p;
}

Tensor inverse_or_zero(Tensor count) { return select(ne(count, 0.0), 1.0 / maximum(count, 1.0), 0.0); }

}  // namespace

std::span<const std::pair<PoolingType, std::string_view>> enum_names(PoolingType) {
  static constexpr std::pair<PoolingType, std::string_view> kNames[] = {{PoolingType::kMax, "MAX"},
                                                                        {PoolingType::kAvg, "AVG"}};
  return kNames;
}

Pooling::Pooling(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  for (const auto& pair : {config.window_shape, config.window_stride}) {
    if (pair[0] > 0 && pair[1] > 0) continue;
    pax::fail<ConfigError>("{}: window_shape is {}x{} and window_stride {}x{}; all must be above 0", scope.path(),
                           config.window_shape[0], config.window_shape[1], config.window_stride[0],
                           config.window_stride[1]);
  }
}

Window Pooling::window(Tensor x, int64_t first, size_t count) const {
  Window window = Window::of_rank(x.rank());
  for (size_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(first) + i;
    window.sizes[at] = config_.window_shape[i];
    window.strides[at] = config_.window_stride[i];
    if (config_.padding == ConvPadding::kSame) {
      window.padding[at] =
          same_padding(x.dim(static_cast<int64_t>(at)), config_.window_shape[i], config_.window_stride[i]);
    }
  }
  return window;
}

Tensor Pooling::average(Tensor x, Tensor paddings) const {
  const auto count = [&](Tensor values, int64_t first, size_t dims) {
    return reduce_window_sum(values, window(values, first, dims));
  };
  const Tensor ones = full(graph(), {x.dtype(), {x.dim(1), x.dim(2)}}, 1.0);
  Tensor y = reduce_window_sum(x, window(x, 1, 2)) / expand_dims(count(ones, 0, 2), -1);
  if (!paddings) return y;
  // The mean over what is not padding: windows count by their height.
  const Tensor rows = full(graph(), {x.dtype(), {x.dim(1)}}, 1.0);
  const Tensor there = count(1.0 - paddings, 1, 1);
  y = y * like_rank_of(x, inverse_or_zero(there));
  return y * like_rank_of(x, expand_dims(count(rows, 0, 1), 0));
}

Pooled Pooling::pool(Tensor x, Tensor paddings) const {
  if (x.rank() != 4) fail(fmt::format("input is {}; it must be [B, H, W, D]", to_string(x.type())));
  if (paddings && (paddings.rank() != 2 || paddings.dim(1) != x.dim(1))) {
    fail(fmt::format("paddings are {} but the input is {}; they must be [B, H]", to_string(paddings.type()),
                     to_string(x.type())));
  }
  if (paddings) paddings = convert(paddings, x.dtype());
  Tensor y;
  if (config_.pooling_type == PoolingType::kMax) {
    if (paddings) x = select(gt(like_rank_of(x, paddings), 0.0), least(x.dtype()), x);
    y = reduce_window_max(x, window(x, 1, 2));
  } else {
    y = average(x, paddings);
  }
  if (!paddings) return {y, {}};
  if (config_.window_stride[0] > 1 || config_.padding == ConvPadding::kValid) {
    paddings = reduce_window_max(paddings, window(paddings, 1, 1));
  }
  // Chosen, not multiplied: the output may hold infinities.
  return {select(lt(like_rank_of(y, paddings), 1.0), y, 0.0), paddings};
}

GlobalPooling::GlobalPooling(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  if (!config.pooling_dims) pax::fail<ConfigError>("{}: pooling_dims must be set", scope.path());
}

Tensor GlobalPooling::pool(Tensor x, Tensor paddings) const {
  const std::vector<int64_t>& dims = *config_.pooling_dims;
  const Reduced reduced = config_.keepdims ? Reduced::kKept : Reduced::kDropped;
  const bool max = config_.pooling_type == PoolingType::kMax;
  if (!paddings) return max ? reduce_max(x, dims, reduced) : reduce_mean(x, dims, reduced);
  paddings = convert(like_rank_of(x, paddings), x.dtype());
  x = select(gt(paddings, 0.0), max ? least(x.dtype()) : 0.0, x);
  if (max) return reduce_max(x, dims, reduced);
  const Tensor there = reduce_sum(1.0 - paddings, dims, Reduced::kKept) + 1e-8;
  const Tensor mean = reduce_sum(x, dims, Reduced::kKept) / there;
  return config_.keepdims ? mean : squeeze(mean, dims);
}

Pooling1D::Pooling1D(const Config& config, const Scope& scope)
    : Layer(config, scope),
      type_(config.pooling_type),
      stride_(config.stride),
      window_(config.window == 0 ? config.stride : config.window) {
  if (config.stride < 1) pax::fail<ConfigError>("{}: stride is {}; it must be at least 1", scope.path(), config.stride);
}

Pooled Pooling1D::pool(Tensor x, Tensor paddings) const {
  if (x.rank() < 2) fail(fmt::format("input is {}; it must be [B, T, ...]", to_string(x.type())));
  const auto strided = [&](Tensor values) { return slice_dim(values, 1, 0, values.dim(1), stride_); };
  if (window_ == 1 && stride_ == 1) return {x, paddings};
  const Tensor out_paddings = paddings ? strided(paddings) : Tensor();
  if (window_ == 1) return {strided(x), out_paddings};

  const bool max = type_ == PoolingType::kMax;
  if (paddings) x = select(gt(like_rank_of(x, paddings), 0.0), max ? least(x.dtype()) : 0.0, x);
  const auto window = [&](Tensor values) {
    Window over = Window::of_rank(values.rank());
    over.sizes[1] = window_;
    over.strides[1] = stride_;
    over.padding[1] = same_padding(values.dim(1), window_, stride_);
    return over;
  };
  if (!max) {
    const Tensor valid =
        paddings ? 1.0 - convert(paddings, x.dtype()) : full(graph(), {x.dtype(), {x.dim(0), x.dim(1)}}, 1.0);
    const Tensor count = reduce_window_sum(valid, window(valid));
    return {reduce_window_sum(x, window(x)) * like_rank_of(x, inverse_or_zero(count)), out_paddings};
  }
  const Tensor y = reduce_window_max(x, window(x));
  if (!paddings) return {y, {}};
  return {select(ne(like_rank_of(y, out_paddings), 1.0), y, 0.0), out_paddings};
}

template const config::ConfigType& config::type_of<Pooling::Config>();
template const config::ConfigType& config::type_of<GlobalPooling::Config>();
template const config::ConfigType& config::type_of<Pooling1D::Config>();

}  // namespace pax
