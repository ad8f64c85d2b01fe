#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "tests/ops/gradient_rows.h"

namespace pax {
namespace {

using Tensors = std::vector<Tensor>;

/// A linear op has to be told from its gradient's gradient: its result is squared.
GradientRow of_one(std::string name, Shape shape, std::function<Tensor(Tensor)> op) {
  return {std::move(name), {{std::move(shape)}}, [op](const Tensors& x) { return Tensors{square(op(x[0]))}; }};
}

Tensor at(Graph& graph, int value) { return constant(graph, HostArray::scalar<int32_t>(value)); }

}  // namespace

std::vector<GradientRow> shape_rows() {
  return {
      of_one("reshape", {2, 6},
             [](Tensor x) {
               return reshape(x, {3, -1});
             }),
      of_one("reshape_to_scalar", {1, 1}, [](Tensor x) { return reshape(x, {}); }),
      of_one("transpose", {2, 3, 4},
             [](Tensor x) {
               return transpose(x, {2, 0, 1});
             }),
      of_one("move_dim", {2, 3, 4}, [](Tensor x) { return move_dim(x, -1, 0); }),
      of_one("swap_dims", {2, 3, 4}, [](Tensor x) { return swap_dims(x, 0, 2); }),
      of_one("expand_squeeze", {2, 3}, [](Tensor x) { return squeeze(expand_dims(expand_dims(x, 1), -1), {1}); }),
      of_one("merge_split", {2, 3, 4},
             [](Tensor x) {
               return split_dim(merge_dims(x, 0, 1), 0, {3, -1});
             }),
      of_one("broadcast_in_dim", {3, 1},
             [](Tensor x) {
               return broadcast_in_dim(x, {2, 3, 4}, {1, 2});
             }),
      of_one("broadcast_scalar", {},
             [](Tensor x) {
               return broadcast_to(x, {2, 3});
             }),
      of_one("broadcast_ones", {1, 1},
             [](Tensor x) {
               return broadcast_to(x, {1, 4});
             }),
      of_one("repeat_in_front", {3}, [](Tensor x) { return repeat_in_front(x, 4); }),
      of_one("slice", {4, 5},
             [](Tensor x) {
               return slice(x, {1, 0}, {3, 4});
             }),
      of_one("slice_strided", {7, 5},
             [](Tensor x) {
               return slice(x, {1, 0}, {6, 5}, {2, 3});
             }),
      of_one("slice_empty", {4, 2},
             [](Tensor x) {
               return slice(x, {2, 0}, {2, 2});
             }),
      of_one("slice_dim", {4, 5}, [](Tensor x) { return slice_dim(x, -1, -3, -1); }),
      of_one("index_dim", {4, 5}, [](Tensor x) { return index_dim(x, 0, -1); }),
      of_one("reverse", {3, 4}, [](Tensor x) { return reverse(x, {1}) * x; }),
      of_one("pad", {2, 3},
             [](Tensor x) {
               return pad(x, 0.5, {1, 0}, {2, 1});
             }),
      of_one("pad_interior", {2, 3},
             [](Tensor x) {
               return pad(x, 0.5, {1, 2}, {0, 1}, {2, 1});
             }),
      of_one("pad_negative", {5, 6},
             [](Tensor x) {
               return pad(x, 0.5, {-1, 2}, {-2, -3});
             }),
      of_one("pad_negative_interior", {4, 3},
             [](Tensor x) {
               return pad(x, 0.5, {-1, -1}, {-2, 1}, {1, 2});
             }),
      {"pad_value",
       {{{2, 3}}, {{}}},
       [](const Tensors& x) {
         return Tensors{square(pad(x[0], x[1], {1, -1}, {2, 1}, {1, 0}))};
       }},
      {"concatenate",
       {{{2, 3}}, {{2, 1}}, {{2, 2}}},
       [](const Tensors& x) {
         return Tensors{square(concatenate({x[0], x[1], x[2], x[0]}, -1))};
       }},
      {"stack",
       {{{2, 3}}, {{2, 3}}},
       [](const Tensors& x) {
         return Tensors{square(stack({x[0], x[1]}, 1))};
       }},
      {"split",
       {{{4, 3}}},
       [](const Tensors& x) {
         const Tensors halves = split(x[0], 0, 2);
         const Tensors thirds = split(x[0], 1, std::vector<int64_t>{1, 2});
         return Tensors{halves[0] * halves[1], square(thirds[1])};
       }},
      of_one("dynamic_slice", {4, 5},
             [](Tensor x) {
               return dynamic_slice(x, {at(x.graph(), 1), at(x.graph(), 2)}, {2, 3});
             }),
      of_one("dynamic_slice_held", {4, 5},
             [](Tensor x) {
               return dynamic_slice(x, {at(x.graph(), 9), at(x.graph(), -4)}, {2, 3});
             }),
      of_one("dynamic_slice_dim", {4, 5}, [](Tensor x) { return dynamic_slice_dim(x, -1, at(x.graph(), 1), 2); }),
      of_one("dynamic_index", {4, 5}, [](Tensor x) { return dynamic_index(x, 0, at(x.graph(), 2)); }),
      {"dynamic_update_slice",
       {{{4, 5}}, {{2, 3}}},
       [](const Tensors& x) {
         Graph& graph = x[0].graph();
         return Tensors{square(dynamic_update_slice(x[0], x[1], {at(graph, 1), at(graph, 2)}))};
       }},
      {"dynamic_update_slice_held",
       {{{4, 5}}, {{4, 2}}},
       [](const Tensors& x) { return Tensors{square(dynamic_update_slice_dim(x[0], x[1], 1, at(x[0].graph(), 7)))}; }},
  };
}

}  // namespace pax
