#include "pax/ops/cumulative.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reduce.h"
#include "pax/ops/select_and_scatter.h"
#include "pax/ops/slice.h"
#include "pax/ops/window.h"
#include "tests/ops/gradient_rows.h"

namespace pax {
namespace {

using Tensors = std::vector<Tensor>;

GradientRow of_one(std::string name, Shape shape, std::function<Tensor(Tensor)> op) {
  return {std::move(name), {{std::move(shape)}}, [op](const Tensors& x) { return Tensors{square(op(x[0]))}; }};
}

/// Every number of a window in use: strides, padding (one negative), dilations.
Window odd_window() {
  Window window = Window::of_rank(2);
  window.sizes = {2, 3};
  window.strides = {2, 1};
  window.padding = {{1, 2}, {2, -1}};
  window.base_dilation = {1, 2};
  window.window_dilation = {2, 1};
  return window;
}

Window plain_window() {
  Window window = Window::of_rank(2);
  window.sizes = {2, 3};
  window.strides = {1, 2};
  window.padding = {{1, 0}, {0, 1}};
  return window;
}

}  // namespace

std::vector<GradientRow> reduce_rows() {
  return {
      of_one("reduce_sum", {2, 3, 4},
             [](Tensor x) {
               return reduce_sum(x, {0, -1});
             }),
      of_one("reduce_sum_kept", {2, 3}, [](Tensor x) { return x - reduce_sum(x, {1}, Reduced::kKept); }),
      of_one("reduce_mean", {2, 3}, [](Tensor x) { return reduce_mean(x, {0}); }),
      of_one("reduce_max", {3, 4}, [](Tensor x) { return reduce_max(x, {1}); }),
      of_one("reduce_min", {3, 4},
             [](Tensor x) {
               return reduce_min(x, {0, 1}, Reduced::kKept);
             }),
      of_one("reduce_prod", {3, 5}, [](Tensor x) { return reduce_prod(x, {1}); }),
      of_one("reduce_prod_of_0", {3, 5},
             [](Tensor x) { return reduce_prod(x * pad_dim(slice_dim(x, 1, 1, 5), 1, 1, 0), {1}); }),
      of_one("logsumexp", {3, 4}, [](Tensor x) { return logsumexp(x * 5.0, {1}); }),
      of_one("softmax", {3, 4}, [](Tensor x) { return softmax(x * 3.0); }),
      of_one("softmax_first", {3, 4}, [](Tensor x) { return softmax(x, 0); }),
      of_one("log_softmax", {3, 4}, [](Tensor x) { return log_softmax(x * 3.0, 1); }),
      of_one("cumsum", {3, 5}, [](Tensor x) { return cumsum(x, 1); }),
      of_one("cumsum_reverse", {3, 5}, [](Tensor x) { return cumsum(x, 0, Direction::kReverse); }),
      of_one("cumprod", {2, 5}, [](Tensor x) { return cumprod(x, 1); }),
      of_one("cummax", {2, 6}, [](Tensor x) { return cummax(x, 1); }),
      of_one("cummin", {2, 6}, [](Tensor x) { return cummin(x, 1, Direction::kReverse); }),
      of_one("cumlogsumexp", {2, 6}, [](Tensor x) { return cumlogsumexp(x, 1); }),
      of_one("reduce_window_sum", {5, 4}, [](Tensor x) { return reduce_window_sum(x, odd_window()); }),
      of_one("reduce_window_max", {5, 6}, [](Tensor x) { return reduce_window_max(x, plain_window()); }),
      of_one("reduce_window_min", {5, 6}, [](Tensor x) { return reduce_window_min(x, plain_window()); }),
      {"select_and_scatter",
       {{{3, 4}}},
       [](const Tensors& x) {
         Window window = Window::of_rank(2);
         window.sizes = {2, 2};
         const Tensor chosen_by = stop_gradient(sine(x[0] * 9.0));
         return Tensors{square(select_and_scatter_add(chosen_by, slice(x[0], {0, 0}, {2, 3}), window, SelectBy::kMax))};
       }},
      {"select_and_gather",
       {{{3, 4}}},
       [](const Tensors& x) {
         Window window = Window::of_rank(2);
         window.sizes = {2, 2};
         const Tensor chosen_by = stop_gradient(sine(x[0] * 9.0));
         return Tensors{square(select_and_gather(chosen_by, x[0], window, SelectBy::kMin))};
       }},
      of_one("max_pool", {1, 5, 6, 2},
             [](Tensor x) {
               return max_pool(x, {2, 3}, {2, 2}, PoolPadding::kSame);
             }),
      of_one("avg_pool", {1, 5, 6, 2},
             [](Tensor x) {
               return avg_pool(x, {2, 3}, {2, 2}, PoolPadding::kSame);
             }),
  };
}

}  // namespace pax
