#pragma once

#include <utility>
#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// A window that slides over every dimension of an array.
struct Window {
  std::vector<int64_t> sizes, strides;
  std::vector<std::pair<int64_t, int64_t>> padding;     ///< Before and after; negative cuts off.
  std::vector<int64_t> base_dilation, window_dilation;  ///< Distance between elements of the array, of the window.

  /// A window of one element.
  static Window of_rank(int64_t rank);
};

/// One result for every place of the window.
Tensor reduce_window_sum(Tensor x, Window window);
/// The gradient goes to the first of the largest elements.
Tensor reduce_window_max(Tensor x, Window window);
Tensor reduce_window_min(Tensor x, Window window);

/// Padding so that `stride` divides the result's size evenly as TensorFlow and JAX do ("SAME"), low side smaller.
std::pair<int64_t, int64_t> same_padding(int64_t size, int64_t window, int64_t stride, int64_t dilation = 1);

enum class PoolPadding : uint8_t { kValid, kSame };

/// Pooling over the dimensions between the first (batch) and the last (channels), one size and stride for each.
Tensor max_pool(Tensor x, std::vector<int64_t> sizes, std::vector<int64_t> strides, PoolPadding padding);
/// The mean of the elements that are not padding.
Tensor avg_pool(Tensor x, std::vector<int64_t> sizes, std::vector<int64_t> strides, PoolPadding padding);

}  // namespace pax
