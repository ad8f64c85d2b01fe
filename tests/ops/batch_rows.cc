#include "tests/ops/batch_rows.h"

#include "pax/autodiff/grad.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/ops/slice.h"
#include "pax/ops/sort.h"

namespace pax {
namespace {

using Tensors = std::vector<Tensor>;

const TensorType kFloats{DType::kF32, {3, 4}};
const TensorType kInts{DType::kS32, {3, 4}};
const TensorType kIndices{DType::kS32, {3}};
const TensorType kScalarIndex{DType::kS32, {}};
const TensorType kKey{DType::kU32, {2}};

BatchRow unary(std::string name, Tensor (*op)(Tensor), TensorType type) {
  return {std::move(name), {{std::move(type), -3, 3}}, [op](const Tensors& x) { return Tensors{op(x[0])}; }};
}

BatchRow binary(std::string name, Tensor (*op)(Tensor, Tensor), TensorType type) {
  return {std::move(name), {{type, 0, 7}, {type, 0, 7}}, [op](const Tensors& x) { return Tensors{op(x[0], x[1])}; }};
}

BatchRow keyed(std::string name, Function function) { return {std::move(name), {{kKey, 0, 1e9}}, std::move(function)}; }

std::vector<BatchRow> rows_of_indices() {
  return {
      {"take_at_batched_ids",
       {{{DType::kF64, {5, 2}}}, {kIndices, -1, 6}},
       [](const Tensors& x) {
         const Tensor out = take(x[0], x[1], 0);
         return Tensors{out, grad(reduce_sum(square(out)), {x[0]})[0]};
       }},
      {"take_along_batched_ids",
       {{{DType::kF64, {5, 2}}}, {{DType::kS32, {3, 2}}, 0, 5}},
       [](const Tensors& x) {
         const Tensor out = take_along(x[0], x[1], 0);
         return Tensors{out, grad(reduce_sum(square(out)), {x[0]})[0]};
       }},
      {"scatter_at_batched_ids",
       {{{DType::kF64, {5, 2}}}, {kIndices, -1, 6}, {{DType::kF64, {3, 2}}}},
       [](const Tensors& x) {
         const Tensor out = scatter_at(x[0], x[1], x[2], 0);
         const Tensors grads = grad(reduce_sum(square(out)), {x[0], x[2]});
         return Tensors{out, grads[0], grads[1], scatter_at(x[0], x[1], x[2], 0, Scatter::kMaximum)};
       }},
      {"dynamic_slice_at_batched_starts",
       {{{DType::kF64, {5, 4}}}, {kScalarIndex, -2, 6}, {kScalarIndex, -2, 6}},
       [](const Tensors& x) {
         const Tensor out = dynamic_slice(x[0], {x[1], x[2]}, {2, 3});
         return Tensors{out, grad(reduce_sum(square(out)), {x[0]})[0]};
       }},
      {"dynamic_update_slice_at_batched_starts",
       {{{DType::kF64, {5, 4}}}, {{DType::kF64, {2, 3}}}, {kScalarIndex, -2, 6}, {kScalarIndex, -2, 6}},
       [](const Tensors& x) {
         const Tensor out = dynamic_update_slice(x[0], x[1], {x[2], x[3]});
         const Tensors grads = grad(reduce_sum(square(out)), {x[0], x[1]});
         return Tensors{out, grads[0], grads[1]};
       }},
      {"one_hot", {{kIndices, -1, 5}}, [](const Tensors& x) { return Tensors{one_hot(x[0], 4, DType::kF32)}; }},
      {"argmax",
       {{kFloats}},
       [](const Tensors& x) {
         return Tensors{argmax(x[0], 1), argmin(x[0], 0)};
       }},
      {"argsort", {{kFloats}}, [](const Tensors& x) { return Tensors{argsort(x[0], 1)}; }},
      {"top_k_of_integers",
       {{kInts, -9, 9}},
       [](const Tensors& x) {
         return Tensors{top_k(x[0], 2).first, top_k(x[0], 2).second};
       }},
      {"select_by_batched_bits",
       {{kInts, 0, 2}, {kFloats}, {kFloats}},
       [](const Tensors& x) { return Tensors{select(eq(x[0], 1.0), x[1], x[2])}; }},
  };
}

std::vector<BatchRow> rows_of_keys() {
  return {
      keyed("random_bits",
            [](const Tensors& x) {
              return Tensors{random_bits(x[0], {3, 2})};
            }),
      keyed("random_bits_of_64", [](const Tensors& x) { return Tensors{random_bits(x[0], {3}, DType::kU64)}; }),
      keyed("random_uniform", [](const Tensors& x) { return Tensors{random_uniform(x[0], kFloats, -1, 2)}; }),
      keyed("random_normal",
            [](const Tensors& x) {
              return Tensors{random_normal(x[0], {DType::kF64, {4}})};
            }),
      keyed("fold_in", [](const Tensors& x) { return Tensors{fold_in(x[0], 7)}; }),
      keyed("split_key", [](const Tensors& x) { return Tensors{split_key(x[0], 3)}; }),
      {"fold_in_batched_data",
       {{kKey, 0, 1e9}, {{DType::kU32, {}}, 0, 1e9}},
       [](const Tensors& x) { return Tensors{fold_in(x[0], x[1])}; }},
      {"rng_bit_generator",
       {{{DType::kU64, {2}}, 0, 1e9}},
       [](const Tensors& x) {
         return Tensors{rng_bit_generator(x[0], {DType::kU32, {3}}).second};
       }},
  };
}

}  // namespace

std::vector<BatchRow> rows_without_gradient() {
  std::vector<BatchRow> rows = {
      unary("is_finite", is_finite, kFloats),
      unary("digamma", digamma, {DType::kF64, {3}}),
      unary("bitwise_not", logical_not, kInts),
      unary("popcnt", population_count, kInts),
      unary("count_leading_zeros", count_leading_zeros, kInts),
      binary("eq", eq, kInts),
      binary("lt", lt, kFloats),
      binary("bitwise_and", logical_and, kInts),
      binary("bitwise_or", logical_or, kInts),
      binary("bitwise_xor", logical_xor, kInts),
      binary("shift_left", shift_left, kInts),
      binary("shift_right_logical", shift_right_logical, kInts),
      binary("shift_right_arithmetic", shift_right_arithmetic, kInts),
      {"reduce_and_or",
       {{kInts, 0, 2}},
       [](const Tensors& x) {
         const Tensor bits = gt(x[0], 0.0);
         return Tensors{reduce_and(bits, {1}), reduce_or(bits, {0})};
       }},
  };
  for (const auto& more : {rows_of_indices(), rows_of_keys()}) rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

std::vector<BatchRow> all_batch_rows() {
  std::vector<BatchRow> rows = rows_without_gradient();
  for (const GradientRow& row : all_rows()) {
    BatchRow out{row.name + "_and_gradient", {}, {}};
    for (const RowInput& input : row.inputs) out.inputs.push_back({{DType::kF64, input.shape}, input.low, input.high});
    out.function = [row](const Tensors& x) {
      Tensors outputs = row.function(x);
      Tensor loss;
      for (const Tensor& output : outputs) {
        if (!is_floating(output.dtype())) continue;
        const Tensor term = reduce_sum(square(output + 0.3));
        loss = loss ? loss + term : term;
      }
      for (const Tensor& gradient : grad(loss, x)) outputs.push_back(gradient);
      return outputs;
    };
    rows.push_back(std::move(out));
  }
  return rows;
}

}  // namespace pax
