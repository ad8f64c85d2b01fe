#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/require.h"
#include "pax/ops/window.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

Window pool_window(std::string_view op, Tensor x, const Dims& sizes, const Dims& strides, PoolPadding padding) {
  const auto spatial = static_cast<size_t>(std::max<int64_t>(x.rank() - 2, 0));
  if (sizes.size() != spatial || strides.size() != spatial) {
    fail_op(x.graph(), op,
            fmt::format("{} has {} dimensions between batch and channels, but the window is [{}] with strides [{}]",
                        to_string(x.type()), spatial, join(sizes, ","), join(strides, ",")));
  }
  Window window = Window::of_rank(x.rank());
  for (size_t i = 0; i < spatial; ++i) {
    window.sizes[i + 1] = sizes[i];
    window.strides[i + 1] = strides[i];
    if (padding == PoolPadding::kSame) {
      window.padding[i + 1] = same_padding(x.dim(static_cast<int64_t>(i) + 1), sizes[i], strides[i]);
    }
  }
  return window;
}

}  // namespace

std::pair<int64_t, int64_t> same_padding(int64_t size, int64_t window, int64_t stride, int64_t dilation) {
  const int64_t count = (size + stride - 1) / stride;
  const int64_t reach = (window - 1) * dilation + 1;
  const int64_t total = std::max<int64_t>((count - 1) * stride + reach - size, 0);
  return {total / 2, total - total / 2};
}

Tensor max_pool(Tensor x, Dims sizes, Dims strides, PoolPadding padding) {
  return reduce_window_max(x, pool_window("max_pool", x, sizes, strides, padding));
}

Tensor avg_pool(Tensor x, Dims sizes, Dims strides, PoolPadding padding) {
  const Window window = pool_window("avg_pool", x, sizes, strides, padding);
  return reduce_window_sum(x, window) / reduce_window_sum(full_like(x, 1), window);
}

}  // namespace pax
