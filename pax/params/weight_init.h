#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pax/config/config.h"
#include "pax/ir/tensor.h"

namespace pax {

enum class InitMethod : uint8_t {
  kGaussian,
  kUniform,
  kConstant,
  kXavier,
  kTruncatedGaussian,
  kGaussianSqrtDim,
  kTruncatedGaussianSqrtDim,
  kGaussianSqrtFanIn,
  kTruncatedGaussianSqrtFanIn,
  kGaussianSqrtFanOut,
  kTruncatedGaussianSqrtFanOut,
  kGaussianSqrtFanAvg,
  kUniformSqrtDim,
  kUniformSqrtFanAvg,
  kUniformUnitScaling,
  kDeltaOrthogonal,
};
std::span<const std::pair<InitMethod, std::string_view>> enum_names(InitMethod);

/// How a weight's first values are drawn (praxis base_layer.WeightInit).
struct WeightInit {
  static constexpr std::string_view kName = "praxis.base_layer.WeightInit";
  static constexpr std::string_view kDoc = "How a weight's first values are drawn.";
  InitMethod method = InitMethod::kXavier;
  double scale = 1.0;
  static void fields(auto& self, auto&& visit) {
    visit("method", self.method);
    visit("scale", self.scale);
  }

  static WeightInit gaussian(double scale = 1.0) { return {InitMethod::kGaussian, scale}; }
  static WeightInit uniform(double scale = 1.0) { return {InitMethod::kUniform, scale}; }
  static WeightInit constant(double value = 0.0) { return {InitMethod::kConstant, value}; }
  static WeightInit xavier(double scale = 1.0) { return {InitMethod::kXavier, scale}; }
};

/// How many inputs an output of a weight depends on, and the reverse (Praxis get_fan_in_fan_out). Axes given are
/// dimensions of `shape`; without them the last but one and the last, with all before them as receptive field.
struct Fans {
  double in = 1, out = 1;
};
Fans fans(const Shape& shape, std::span<const int64_t> fan_in_axes = {}, std::span<const int64_t> fan_out_axes = {});

/// Draws values of `type` by `init` from `key` (u32[2]); the axes are those of `fans`. Keys with dimensions in front of
/// the 2 give one draw each, with those dimensions in front: the same values as each key alone.
/// Throws ConfigError when integers are to be drawn at random, or the shape does not suit the method.
Tensor initial_values(const WeightInit& init, Tensor key, const TensorType& type,
                      std::span<const int64_t> fan_in_axes = {}, std::span<const int64_t> fan_out_axes = {});

/// How far values drawn by `init` spread, for learners that scale updates by it (Praxis var_init_scale). Throws
/// ConfigError for methods other than gaussian, gaussian_sqrt_fanin and xavier.
double initial_scale(const WeightInit& init, const Shape& shape, std::span<const int64_t> fan_in_axes = {},
                     std::span<const int64_t> fan_out_axes = {});

}  // namespace pax
