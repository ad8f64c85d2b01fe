#include "pax/layers/attention/masks.h"

#include <algorithm>

#include "pax/layers/attention/attention.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

/// 0 / large negative number from a bool.
Tensor additive(Tensor masked, DType dtype) {
  return select(masked, full(masked.graph(), {dtype, {}}, large_negative_number(dtype)), 0.0);
}

/// [1, 1, T, T].
Tensor causal(Graph& graph, int64_t t, DType dtype) {
  const TensorType index{DType::kS32, {1, 1, t, t}};
  return additive(lt(iota(graph, index, 2), iota(graph, index, 3)), dtype);
}

}  // namespace

double large_negative_number(DType dtype) { return -0.7 * max_finite(dtype); }

Tensor limited_context_mask(Graph& graph, const Context& context, int64_t rows, int64_t columns, DType dtype) {
  const int64_t all = std::max(rows, columns);
  const TensorType index{DType::kS32, {rows, columns}};
  const Tensor row = iota(graph, index, 0);
  const Tensor column = iota(graph, index, 1);
  const Tensor before = le(column + static_cast<double>(context.left.value_or(all)), row);
  const Tensor after = lt(row, column - static_cast<double>(context.right.value_or(all)));
  return additive(logical_or(before, after), dtype);
}

Tensor causal_mask(Tensor x_btd) { return causal(x_btd.graph(), x_btd.dim(1), x_btd.dtype()); }

Tensor segment_mask(Tensor segment_ids_bt, Tensor source_segment_ids_bs, DType dtype) {
  const Tensor source = source_segment_ids_bs ? source_segment_ids_bs : segment_ids_bt;
  return additive(expand_dims(ne(expand_dims(segment_ids_bt, 2), expand_dims(source, 1)), 1), dtype);
}

Tensor causal_segment_mask(Tensor segment_ids_bt, DType dtype, Tensor causal_bt) {
  Tensor future = causal(segment_ids_bt.graph(), segment_ids_bt.dim(1), dtype);
  if (causal_bt) future = future * expand_dims(expand_dims(convert(causal_bt, dtype), 1), 1);
  return merge_masks(segment_mask(segment_ids_bt, {}, dtype), future);
}

Tensor paddings_mask(Tensor paddings_bt, DType dtype) {
  return expand_dims(expand_dims(convert(paddings_bt, dtype) * large_negative_number(dtype), 1), 1);
}

Tensor merge_masks(Tensor a, Tensor b) {
  const auto over_queries = [](Tensor key_mask) { return minimum(swap_dims(key_mask, 2, 3), key_mask); };
  if (a.dim(2) != b.dim(2)) {
    if (a.dim(2) == 1) {
      a = over_queries(a);
    } else if (b.dim(2) == 1) {
      b = over_queries(b);
    }
  }
  if (a.shape().without(0) != b.shape().without(0)) {
    fail_op(a.graph(), "merge_masks",
            to_string(a.type()) + " and " + to_string(b.type()) + " must have equal dimensions after the batch");
  }
  return minimum(a, b);
}

Tensor within_window(Tensor mask, const std::array<int64_t, 2>& window, Tensor first_query, int64_t first_key) {
  const auto [left, right] = window;
  const TensorType index{DType::kS32, {1, 1, mask.dim(2), mask.dim(3)}};
  Tensor ahead = iota(mask.graph(), index, 3) - iota(mask.graph(), index, 2) + static_cast<double>(first_key);
  ahead = first_query ? ahead - step_of_rows(first_query, 4) : ahead;
  const Tensor near = logical_and(ge(ahead, static_cast<double>(-left)), le(ahead, static_cast<double>(right)));
  return select(near, mask, large_negative_number(mask.dtype()));
}

Tensor apply_mask(Tensor logits, Tensor mask) {
  const double lowest = large_negative_number(logits.dtype());
  return select(ge(convert(mask, logits.dtype()), 0.5 * lowest), logits, lowest);
}

Tensor sees_something(Tensor mask, DType dtype) {
  const Tensor allowed = ge(mask, 0.5 * large_negative_number(DType::kF32));
  return convert(reduce_or(allowed, {-1}), dtype);
}

}  // namespace pax
