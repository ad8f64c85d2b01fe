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
  kXavierFixup,
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

/// Draws values of `type` by `init` from `key` (u32[2]). `fan_in_axes` / `fan_out_axes` are dimensions of `type`; empty
/// means the last but one and the last, with all before them as receptive field (Praxis).
Tensor initial_values(const WeightInit& init, Tensor key, const TensorType& type,
                      std::span<const int64_t> fan_in_axes = {}, std::span<const int64_t> fan_out_axes = {});

}  // namespace pax
