#include "pax/task/decoding/align.h"

#include "pax/layers/attention/attention.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

/// 0, 1, … along rows of `size`: [1, size].
Tensor places(Graph& graph, int64_t size) { return iota(graph, {DType::kS32, {1, size}}, 1); }

/// x[b, index[b, t]] where `inside`, else 0; `x` is [B, T, …].
Tensor take_rows(Tensor x, Tensor index, Tensor inside) {
  while (index.rank() < x.rank()) {
    index = expand_dims(index, -1);
    inside = expand_dims(inside, -1);
  }
  return select(inside, take_along(x, index, 1), 0.0);
}

}  // namespace

Tensor right_align(Tensor x, Tensor lengths_b) {
  const int64_t t = x.dim(1);
  const Tensor source = places(x.graph(), t) - (static_cast<double>(t) - expand_dims(lengths_b, 1));
  return take_rows(x, maximum(source, 0.0), ge(source, 0.0));
}

Tensor left_align(Tensor x, Tensor lengths_b, int64_t max_prefix) {
  const int64_t s = x.dim(1);
  const Tensor source = places(x.graph(), s) + (static_cast<double>(max_prefix) - expand_dims(lengths_b, 1));
  return take_rows(x, minimum(source, static_cast<double>(s - 1)), lt(source, static_cast<double>(s)));
}

Prompt right_aligned(const DecodeInputs& inputs) {
  Graph& graph = inputs.ids_bt.graph();
  const int64_t t = inputs.ids_bt.dim(1);
  const Tensor position = places(graph, t) - (static_cast<double>(t) - expand_dims(inputs.lengths_b, 1));
  const Tensor real = ge(position, 0.0);
  Prompt prompt{.ids_bt = right_align(inputs.ids_bt, inputs.lengths_b),
                .paddings_bt = convert(logical_not(real), DType::kF32),
                .segment_ids_bt = convert(real, DType::kS32),
                .segment_pos_bt = maximum(position, 0.0),
                .causal_bt = {}};
  if (inputs.causal_bt) prompt.causal_bt = right_align(inputs.causal_bt, inputs.lengths_b);
  return prompt;
}

Tensor repeat_rows(Tensor x, int64_t times) {
  if (!x || times == 1) return x;
  std::vector<int64_t> sizes{x.dim(0), times};
  for (int64_t i = 1; i < x.rank(); ++i) sizes.push_back(x.dim(i));
  return merge_dims(broadcast_to(expand_dims(x, 1), Shape(sizes)), 0, 1);
}

void add_room(Tree<Tensor>& cache, int64_t steps) {
  for (auto& [name, value] : cache) {
    if (grows_with_steps(name)) value = pad_dim(value, 1, 0, steps);
  }
}

void forget(Tree<Tensor>& cache) {
  for (auto& [name, value] : cache) {
    if (grows_with_steps(name)) value = zeros_like(value);
  }
}

Tensor without_tail(Tensor ids_bt, Tensor lengths_b) {
  return select(lt(places(ids_bt.graph(), ids_bt.dim(1)), expand_dims(lengths_b, 1)), ids_bt, 0.0);
}

Tensor is_any_of(Tensor ids, const std::vector<int64_t>& eos) {
  Tensor any = convert(full(ids.graph(), {DType::kS32, ids.shape()}, 0), DType::kPred);
  for (const int64_t id : eos) any = logical_or(any, eq(ids, static_cast<double>(id)));
  return any;
}

Tensor write_at(Tensor x, Tensor values, Tensor at) {
  return dynamic_update_slice_dim(x, expand_dims(values, -1), x.rank() - 1, at);
}

Tensor split_samples(Tensor x, int64_t samples) { return split_dim(x, 0, {-1, samples}); }

}  // namespace pax
