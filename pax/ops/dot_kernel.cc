#include "pax/ops/dot_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "pax/base/text.h"
#include "pax/ops/custom_call.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

/// Below this many multiplications, or this many rows, columns or depth, packing costs more than it saves.
constexpr int64_t kLeastWork = 1 << 19;
constexpr int64_t kLeastSize = 16;

Dims strides_of(const Shape& shape) {
  Dims strides(static_cast<size_t>(shape.rank()), 1);
  for (int64_t i = shape.rank() - 2; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = strides[static_cast<size_t>(i + 1)] * shape[i + 1];
  }
  return strides;
}

/// Several dimensions as one: how many elements, and how far apart; nothing when they are not evenly apart.
struct Walk {
  int64_t size = 1, stride = 1;
};
std::optional<Walk> walk_through(const Shape& shape, const Dims& dims) {
  const Dims strides = strides_of(shape);
  Walk walk;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (shape[*dim] == 1) continue;
    const int64_t stride = strides[static_cast<size_t>(*dim)];
    if (walk.size == 1) {
      walk.stride = stride;
    } else if (stride != walk.stride * walk.size) {
      return std::nullopt;
    }
    walk.size *= shape[*dim];
  }
  return walk;
}

/// One operand: its free and its contracting dimensions, and how far apart the matrices of a batch are.
struct Factor {
  Walk free, contract;
  Dims batch_strides;
};
std::optional<Factor> factor(const Shape& shape, const Dims& batch, const Dims& contract) {
  Dims free;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (std::ranges::find(batch, i) == batch.end() && std::ranges::find(contract, i) == contract.end()) {
      free.push_back(i);
    }
  }
  const std::optional<Walk> f = walk_through(shape, free), c = walk_through(shape, contract);
  if (!f || !c || std::min(f->stride, c->stride) != 1) return std::nullopt;
  const Dims strides = strides_of(shape);
  Factor out{*f, *c, {}};
  for (const int64_t dim : batch) out.batch_strides.push_back(strides[static_cast<size_t>(dim)]);
  return out;
}

std::string i64_array(const Dims& values) {
  return values.empty() ? "array<i64>" : fmt::format("array<i64: {}>", join(values, ", "));
}

}  // namespace

Tensor product_by_kernel(const OpCall& call) {
  const auto& dims = call.attr<DotDims>("dot_dimension_numbers");
  const DType dtype = call.type(0).dtype;
  const auto known = [](DType type) { return type == DType::kF32 || type == DType::kBF16; };
  if (!known(dtype) || !known(call.output().dtype()) || call.attrs.find<Mlir>("precision_config") != nullptr) return {};
  if (call.output().shape().num_elements() == 0) return {};
  const std::optional<Factor> a = factor(call.shape(0), dims.lhs_batch, dims.lhs_contract);
  const std::optional<Factor> b = factor(call.shape(1), dims.rhs_batch, dims.rhs_contract);
  if (!a || !b) return {};
  const int64_t rows = a->free.size, cols = b->free.size, depth = a->contract.size;
  if (std::min({rows, cols, depth}) < kLeastSize || rows * cols * depth < kLeastWork) return {};
  Dims batch;
  for (const int64_t dim : dims.lhs_batch) batch.push_back(call.shape(0)[dim]);
  const std::string config = fmt::format(
      "{{sizes = {}, strides = {}, batch = {}, a_batch = {}, b_batch = {}}}", i64_array({rows, depth, cols}),
      i64_array({a->free.stride, a->contract.stride, b->contract.stride, b->free.stride}), i64_array(batch),
      i64_array(a->batch_strides), i64_array(b->batch_strides));
  return custom_call(call.graph, {call.operand(0), call.operand(1)},
                     {.target = "pax_product", .results = {call.output().type()}, .config = config})[0];
}

}  // namespace pax
