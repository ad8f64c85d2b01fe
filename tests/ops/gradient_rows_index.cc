#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/sort.h"
#include "tests/ops/gradient_rows.h"

namespace pax {
namespace {

using Tensors = std::vector<Tensor>;

Tensor ids(Tensor like, std::vector<double> values, Shape shape) {
  return constant(like.graph(), i32(std::move(values), std::move(shape)));
}

GradientRow scatter_at_row(std::string name, Scatter kind, std::vector<double> places) {
  const auto count = static_cast<int64_t>(places.size());
  return {std::move(name), {{{5, 2}, 0.5, 2}, {{count, 2}, 0.5, 2}}, [kind, places, count](const Tensors& x) {
            return Tensors{square(scatter_at(x[0], ids(x[0], places, {count}), x[1], 0, kind))};
          }};
}

/// Windows of [2,1] at (row, column) pairs, some beyond the edge.
Function scatter_windows(Scatter kind) {
  return [kind](const Tensors& x) {
    ScatterDims dims;
    dims.window = {1};
    dims.collapsed = {1};
    dims.index_map = {0, 1};
    dims.index_vector_dim = 1;
    const Tensor places = ids(x[0], {0, 1, 2, 2, 3, 0, -1, 1}, {4, 2});
    return Tensors{square(scatter(x[0], places, x[1], {.kind = kind, .dims = dims, .unique = true}))};
  };
}

}  // namespace

std::vector<GradientRow> index_rows() {
  return {
      {"take_rows",
       {{{5, 3}}},
       [](const Tensors& x) {
         return Tensors{square(take(x[0], ids(x[0], {4, 0, 0, 2}, {2, 2}), 0))};
       }},
      {"take_columns",
       {{{2, 5, 3}}},
       [](const Tensors& x) {
         return Tensors{square(take(x[0], ids(x[0], {4, 0, 0}, {3}), 1))};
       }},
      {"take_one", {{{2, 5}}}, [](const Tensors& x) { return Tensors{square(take(x[0], ids(x[0], {3}, {}), -1))}; }},
      {"take_along",
       {{{2, 5, 3}}},
       [](const Tensors& x) {
         return Tensors{square(take_along(x[0], ids(x[0], {4, 0, 0, 1, 2, 3}, {2, 1, 3}), 1))};
       }},
      {"take_along_broadcast",
       {{{2, 5}}},
       [](const Tensors& x) {
         return Tensors{square(take_along(x[0], ids(x[0], {4, 0, 0}, {1, 3}), 1))};
       }},
      {"gather_windows",
       {{{4, 5}}},
       [](const Tensors& x) {
         const GatherDims dims{.window = {0, 2}, .index_map = {1}, .index_vector_dim = 1};
         return Tensors{square(gather(x[0], ids(x[0], {0, 2, 3}, {3, 1}), dims, {3, 2}))};
       }},
      scatter_at_row("scatter_add", Scatter::kAdd, {0, 3, 3}),
      scatter_at_row("scatter_add_dropped", Scatter::kAdd, {7, 3, -1}),
      scatter_at_row("scatter_replace", Scatter::kReplace, {0, 3}),
      scatter_at_row("scatter_replace_twice", Scatter::kReplace, {0, 3, 3}),
      scatter_at_row("scatter_minimum", Scatter::kMinimum, {0, 3, 3, 9}),
      scatter_at_row("scatter_maximum", Scatter::kMaximum, {0, 3, 3, 9}),
      {"scatter_add_windows", {{{4, 3}}, {{4, 2}}}, scatter_windows(Scatter::kAdd)},
      {"scatter_replace_windows", {{{4, 3}}, {{4, 2}}}, scatter_windows(Scatter::kReplace)},
      {"scatter_multiply_windows", {{{4, 3}, 0.5, 2}, {{4, 2}, 0.5, 2}}, scatter_windows(Scatter::kMultiply)},
      {"scatter_along",
       {{{2, 5}}, {{2, 3}}},
       [](const Tensors& x) {
         return Tensors{square(scatter_along(x[0], ids(x[0], {4, 0, 0, 1, 2, 3}, {2, 3}), x[1], 1))};
       }},
      {"sort", {{{3, 7}}}, [](const Tensors& x) { return Tensors{square(sort(x[0], 1))}; }},
      {"sort_descending",
       {{{3, 7}}},
       [](const Tensors& x) { return Tensors{square(sort(x[0], 0, Order::kDescending))}; }},
      {"sort_together",
       {{{6}}, {{6}}},
       [](const Tensors& x) {
         const Tensors sorted = sort({x[0], x[1]}, 0);
         return Tensors{square(sorted[0]), sorted[1] * sorted[0]};
       }},
      {"top_k", {{{3, 7}}}, [](const Tensors& x) { return Tensors{square(top_k(x[0], 3).first)}; }},
  };
}

}  // namespace pax
