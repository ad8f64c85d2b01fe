#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "pax/ops/dot.h"

namespace pax {

struct ConvOptions {
  ConvDims dims;
  /// One a spatial dimension; empty: 1 (padding: 0).
  std::vector<int64_t> strides{};
  std::vector<std::pair<int64_t, int64_t>> padding{};
  std::vector<int64_t> input_dilation{}, kernel_dilation{};
  /// Features in so many groups, each with kernels of its own: input features = kernel input features * groups.
  int64_t feature_groups = 1;
  /// The batch in so many groups, each with its share of the output features.
  int64_t batch_groups = 1;
  DotOptions dot{};
};

/// StableHLO's convolution: a kernel slid over the spatial dimensions of `x`. Transposed convolutions are those with an
/// input dilation.
Tensor convolution(Tensor x, Tensor kernel, ConvOptions options);

/// Input and output [batch, spatial…, features], kernel [spatial…, input features, output features]: NHWC, HWIO.
ConvDims channels_last(int64_t spatial);

}  // namespace pax
