#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

/// Operands from `first` on must be integer scalars of one type, one a dimension of operand 0.
void require_starts(const OpCall& call, size_t first) {
  const auto rank = static_cast<size_t>(call.shape(0).rank());
  if (call.operands.size() - first != rank) {
    call.fail(
        fmt::format("{} needs {} starts, but got {}", to_string(call.type(0)), rank, call.operands.size() - first));
  }
  for (size_t i = first; i < call.operands.size(); ++i) {
    require_integer(call, i);
    require_same_dtype(call, first, i);
    if (call.shape(i).rank() != 0) {
      call.fail(fmt::format("start {} is {}, but must be a scalar", i - first, to_string(call.type(i))));
    }
  }
}

std::vector<Tensor> starts_of(const OpCall& call, size_t first) {
  return {call.operands.begin() + static_cast<ptrdiff_t>(first), call.operands.end()};
}

/// Starts that differ within the batch, as rows [B, dimensions].
Tensor start_rows(const OpCall& call, const std::vector<bool>& batched, size_t first, int64_t size) {
  std::vector<Tensor> columns;
  for (size_t i = first; i < call.operands.size(); ++i) {
    columns.push_back(batched[i] ? call.operand(i) : repeat_in_front(call.operand(i), size));
  }
  return stack(columns, 1);
}

bool any_from(const std::vector<bool>& batched, size_t first) {
  return std::find(batched.begin() + static_cast<ptrdiff_t>(first), batched.end(), true) != batched.end();
}

Dims from_one(int64_t count) {
  Dims dims = all_dims(count);
  for (int64_t& dim : dims) ++dim;
  return dims;
}

/// Operands: x, starts.
std::vector<Tensor> batch_dynamic_slice(const OpCall& call, const std::vector<bool>& batched) {
  const Tensor x = call.operand(0);
  Dims sizes = call.attr<Dims>("slice_sizes");
  const auto rank = static_cast<int64_t>(sizes.size());
  if (!any_from(batched, 1)) {
    std::vector<Tensor> starts = starts_of(call, 1);
    starts.insert(starts.begin(), zeros_like(starts[0]));
    sizes.insert(sizes.begin(), x.dim(0));
    return {dynamic_slice(x, std::move(starts), std::move(sizes))};
  }
  const auto first = static_cast<size_t>(std::ranges::find(batched, true) - batched.begin());
  const Tensor rows = start_rows(call, batched, 1, call.shape(first)[0]);
  GatherDims dims{.window = from_one(rank), .index_map = all_dims(rank), .index_vector_dim = 1};
  if (batched[0]) {
    dims.operand_batch = {0};
    dims.indices_batch = {0};
    dims.index_map = from_one(rank);
    sizes.insert(sizes.begin(), 1);
  }
  return {gather(x, rows, std::move(dims), std::move(sizes))};
}

constinit const OpDef kDynamicSlice{
    .name = "dynamic_slice",
    .infer = [](const OpCall& call) -> ResultTypes {
      require_starts(call, 1);
      const Dims& sizes = call.attr<Dims>("slice_sizes");
      bool ok = static_cast<int64_t>(sizes.size()) == call.shape(0).rank();
      for (size_t i = 0; ok && i < sizes.size(); ++i) {
        ok = sizes[i] >= 0 && sizes[i] <= call.shape(0)[static_cast<int64_t>(i)];
      }
      if (!ok) {
        call.fail(fmt::format("a slice of [{}] is larger than {} or has other dimensions", join(sizes, ","),
                              to_string(call.type(0))));
      }
      return TensorType{call.type(0).dtype, Shape(sizes)};
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      const Tensor zeros = full(call.graph, {grad.dtype(), call.shape(0)}, 0);
      return {dynamic_update_slice(zeros, grad, starts_of(call, 1))};
    },
    .batch = batch_dynamic_slice};

/// Operands: x, update, starts.
std::vector<Tensor> batch_dynamic_update_slice(const OpCall& call, const std::vector<bool>& batched) {
  const auto first = static_cast<size_t>(std::ranges::find(batched, true) - batched.begin());
  const int64_t size = call.shape(first)[0];
  const Tensor x = batched[0] ? call.operand(0) : repeat_in_front(call.operand(0), size);
  const Tensor update = batched[1] ? call.operand(1) : repeat_in_front(call.operand(1), size);
  const int64_t rank = x.rank() - 1;
  if (!any_from(batched, 2)) {
    std::vector<Tensor> starts = starts_of(call, 2);
    starts.insert(starts.begin(), zeros_like(starts[0]));
    return {dynamic_update_slice(x, update, std::move(starts))};
  }
  // A scatter drops what does not fit, so the starts are held first.
  Tensor rows = start_rows(call, batched, 2, size);
  std::vector<double> last;
  for (int64_t i = 1; i <= rank; ++i) last.push_back(static_cast<double>(x.dim(i) - update.dim(i)));
  const Tensor limit = constant(call.graph, from_doubles(last, {rows.dtype(), {rank}}));
  rows = clamp(full(call.graph, {rows.dtype(), {}}, 0), rows, limit);
  ScatterDims dims;
  dims.window = from_one(rank);
  dims.operand_batch = {0};
  dims.indices_batch = {0};
  dims.index_map = from_one(rank);
  dims.index_vector_dim = 1;
  return {scatter(x, rows, update, {.kind = Scatter::kReplace, .dims = std::move(dims), .unique = true})};
}

constinit const OpDef kDynamicUpdateSlice{
    .name = "dynamic_update_slice",
    .infer = [](const OpCall& call) -> ResultTypes {
      require_same_dtype(call, 0, 1);
      require_starts(call, 2);
      bool ok = call.shape(0).rank() == call.shape(1).rank();
      for (int64_t i = 0; ok && i < call.shape(0).rank(); ++i) ok = call.shape(1)[i] <= call.shape(0)[i];
      if (!ok) {
        call.fail(fmt::format("the update {} is larger than {} or has other dimensions", to_string(call.type(1)),
                              to_string(call.type(0))));
      }
      return call.type(0);
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      const std::vector<Tensor> starts = starts_of(call, 2);
      const Tensor zeros = full(call.graph, {grad.dtype(), call.shape(1)}, 0);
      return {call.wants(0) ? dynamic_update_slice(grad, zeros, starts) : Tensor(),
              call.wants(1) ? dynamic_slice(grad, starts, to_vector(call.shape(1))) : Tensor()};
    },
    .batch = batch_dynamic_update_slice};

constexpr const OpDef* kOps[] = {&kDynamicSlice, &kDynamicUpdateSlice};

std::vector<Tensor> starts_in(Tensor x, int64_t dim, Tensor start) {
  std::vector<Tensor> starts(static_cast<size_t>(x.rank()), zeros_like(start));
  starts[static_cast<size_t>(dim)] = start;
  return starts;
}

}  // namespace

std::span<const OpDef* const> dynamic_slice_ops() { return kOps; }

Tensor dynamic_slice(Tensor x, std::vector<Tensor> starts, Dims sizes) {
  if (x.rank() == 0) return x;
  starts.insert(starts.begin(), x);
  return emit(kDynamicSlice, std::move(starts), {{"slice_sizes", std::move(sizes)}});
}

Tensor dynamic_slice_dim(Tensor x, int64_t dim, Tensor start, int64_t size) {
  dim = resolve_dim("dynamic_slice", x, dim);
  Dims sizes = to_vector(x.shape());
  sizes[static_cast<size_t>(dim)] = size;
  return dynamic_slice(x, starts_in(x, dim, start), std::move(sizes));
}

Tensor dynamic_index(Tensor x, int64_t dim, Tensor i) {
  dim = resolve_dim("dynamic_slice", x, dim);
  return squeeze(dynamic_slice_dim(x, dim, i, 1), {dim});
}

Tensor dynamic_update_slice(Tensor x, Tensor update, std::vector<Tensor> starts) {
  std::vector<Tensor> operands{x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return emit(kDynamicUpdateSlice, std::move(operands));
}

Tensor dynamic_update_slice_dim(Tensor x, Tensor update, int64_t dim, Tensor start) {
  return dynamic_update_slice(x, update, starts_in(x, resolve_dim("dynamic_update_slice", x, dim), start));
}

}  // namespace pax
