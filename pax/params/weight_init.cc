#include "pax/params/weight_init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/random.h"
#include "pax/ops/reshape.h"
#include "pax/params/orthogonal.h"

namespace pax {
namespace {

constexpr std::pair<InitMethod, std::string_view> kMethods[] = {
    {InitMethod::kGaussian, "gaussian"},
    {InitMethod::kUniform, "uniform"},
    {InitMethod::kConstant, "constant"},
    {InitMethod::kXavier, "xavier"},
    {InitMethod::kTruncatedGaussian, "truncated_gaussian"},
    {InitMethod::kGaussianSqrtDim, "gaussian_sqrt_dim"},
    {InitMethod::kTruncatedGaussianSqrtDim, "truncated_gaussian_sqrt_dim"},
    {InitMethod::kGaussianSqrtFanIn, "gaussian_sqrt_fanin"},
    {InitMethod::kTruncatedGaussianSqrtFanIn, "truncated_gaussian_sqrt_fanin"},
    {InitMethod::kGaussianSqrtFanOut, "gaussian_sqrt_fanout"},
    {InitMethod::kTruncatedGaussianSqrtFanOut, "truncated_gaussian_sqrt_fanout"},
    {InitMethod::kGaussianSqrtFanAvg, "gaussian_sqrt_fanavg"},
    {InitMethod::kUniformSqrtDim, "uniform_sqrt_dim"},
    {InitMethod::kUniformSqrtFanAvg, "uniform_sqrt_fanavg"},
    {InitMethod::kUniformUnitScaling, "uniform_unit_scaling"},
    {InitMethod::kDeltaOrthogonal, "delta_orthogonal"},
};

enum class Law : uint8_t { kConstant, kGaussian, kTruncatedGaussian, kUniform, kOrthogonal };

/// Values are `scale` times what the law draws: N(0,1), the same cut at 2, or [-1,1).
struct Draw {
  Law law;
  double scale;
};

double first_dim(const Shape& shape) { return shape.rank() == 0 ? 1.0 : static_cast<double>(shape[0]); }

/// The product of all dimensions but the last.
double input_size(const Shape& shape) {
  double size = 1;
  for (int64_t i = 0; i + 1 < shape.rank(); ++i) size *= static_cast<double>(shape[i]);
  return std::max(size, 1.0);
}

Draw draw_of(const WeightInit& init, const Shape& shape, Fans fans) {
  const double scale = init.scale;
  switch (init.method) {
    case InitMethod::kConstant:
      return {Law::kConstant, scale};
    case InitMethod::kGaussian:
      return {Law::kGaussian, scale};
    case InitMethod::kTruncatedGaussian:
      return {Law::kTruncatedGaussian, scale};
    case InitMethod::kUniform:
      return {Law::kUniform, scale};
    case InitMethod::kGaussianSqrtDim:
      return {Law::kGaussian, scale / std::sqrt(first_dim(shape))};
    case InitMethod::kTruncatedGaussianSqrtDim:
      return {Law::kTruncatedGaussian, scale / std::sqrt(first_dim(shape))};
    case InitMethod::kUniformSqrtDim:
      return {Law::kUniform, scale / std::sqrt(first_dim(shape))};
    case InitMethod::kGaussianSqrtFanIn:
      return {Law::kGaussian, scale / std::sqrt(fans.in)};
    case InitMethod::kTruncatedGaussianSqrtFanIn:
      return {Law::kTruncatedGaussian, scale / std::sqrt(fans.in)};
    case InitMethod::kGaussianSqrtFanOut:
      return {Law::kGaussian, scale / std::sqrt(fans.out)};
    case InitMethod::kTruncatedGaussianSqrtFanOut:
      return {Law::kTruncatedGaussian, scale / std::sqrt(fans.out)};
    case InitMethod::kGaussianSqrtFanAvg:
      return {Law::kGaussian, scale * std::sqrt(2 / (fans.in + fans.out))};
    case InitMethod::kUniformSqrtFanAvg:
    case InitMethod::kXavier:
      return {Law::kUniform, scale * std::sqrt(6 / (fans.in + fans.out))};
    case InitMethod::kUniformUnitScaling:
      return {Law::kUniform, scale * std::sqrt(3 / input_size(shape))};
    case InitMethod::kDeltaOrthogonal:
      // Praxis draws vectors and scalars plainly, and gives matrices their own scale.
      return shape.rank() < 2 ? Draw{Law::kGaussian, scale} : Draw{Law::kOrthogonal, 1.0};
  }
  fail<ConfigError>("init method {} is not known", static_cast<int>(init.method));
}

/// The dimensions that `key` has in front of its own, then `type`'s.
TensorType batched(Tensor key, const TensorType& type) {
  return {type.dtype, type.shape.prefixed(key.shape().dims().first(static_cast<size_t>(key.rank() - 1)))};
}

}  // namespace

std::span<const std::pair<InitMethod, std::string_view>> enum_names(InitMethod) { return kMethods; }

Fans fans(const Shape& shape, std::span<const int64_t> fan_in_axes, std::span<const int64_t> fan_out_axes) {
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  const auto product = [&](std::span<const int64_t> axes) {
    double size = 1;
    for (const int64_t axis : axes) size *= static_cast<double>(shape[axis]);
    return size;
  };
  if (!fan_in_axes.empty() || !fan_out_axes.empty()) return {product(fan_in_axes), product(fan_out_axes)};
  double receptive_field = 1;
  for (int64_t i = 0; i + 2 < shape.rank(); ++i) receptive_field *= static_cast<double>(shape[i]);
  return {receptive_field * static_cast<double>(shape[-2]), receptive_field * static_cast<double>(shape[-1])};
}

Tensor initial_values(const WeightInit& init, Tensor key, const TensorType& type, std::span<const int64_t> fan_in_axes,
                      std::span<const int64_t> fan_out_axes) {
  const Draw draw = draw_of(init, type.shape, fans(type.shape, fan_in_axes, fan_out_axes));
  if (draw.law == Law::kConstant) return full(key.graph(), batched(key, type), draw.scale);
  if (!is_floating(type.dtype)) {
    fail<ConfigError>("a variable of type {} cannot be drawn at random; give it a constant init", to_string(type));
  }
  switch (draw.law) {
    case Law::kGaussian:
      return draw.scale * random_normal(key, type);
    case Law::kTruncatedGaussian:
      return draw.scale * random_truncated_normal(key, type, -2, 2);
    case Law::kUniform:
      return draw.scale * random_uniform(key, type, -1, 1);
    default:
      return delta_orthogonal(key, type);
  }
}

double initial_scale(const WeightInit& init, const Shape& shape, std::span<const int64_t> fan_in_axes,
                     std::span<const int64_t> fan_out_axes) {
  const bool known = init.method == InitMethod::kGaussian || init.method == InitMethod::kGaussianSqrtFanIn ||
                     init.method == InitMethod::kXavier;
  if (!known) {
    fail<ConfigError>(
        "scale_update_by_var_norm: knows the spread of gaussian, gaussian_sqrt_fanin and xavier only; switch it off or "
        "change the init method");
  }
  return draw_of(init, shape, fans(shape, fan_in_axes, fan_out_axes)).scale;
}

}  // namespace pax
