#include "pax/ops/dot.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot_kernel.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

Dims free_dims(int64_t rank, const Dims& batch, const Dims& contract) {
  Dims free;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::ranges::find(batch, i) == batch.end() && std::ranges::find(contract, i) == contract.end()) {
      free.push_back(i);
    }
  }
  return free;
}

bool are_dims(Dims dims, const Dims& more, int64_t rank) {
  dims.insert(dims.end(), more.begin(), more.end());
  std::ranges::sort(dims);
  return std::ranges::adjacent_find(dims) == dims.end() && (dims.empty() || (dims.front() >= 0 && dims.back() < rank));
}

bool same_sizes(const Shape& a, const Dims& of_a, const Shape& b, const Dims& of_b) {
  if (of_a.size() != of_b.size()) return false;
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (a[of_a[i]] != b[of_b[i]]) return false;
  }
  return true;
}

ResultTypes infer_dot(const OpCall& call) {
  const auto& dims = call.attr<DotDims>("dot_dimension_numbers");
  const Shape& a = call.shape(0);
  const Shape& b = call.shape(1);
  require_same_dtype(call, 0, 1);
  if (!are_dims(dims.lhs_batch, dims.lhs_contract, a.rank()) ||
      !are_dims(dims.rhs_batch, dims.rhs_contract, b.rank()) || !same_sizes(a, dims.lhs_batch, b, dims.rhs_batch) ||
      !same_sizes(a, dims.lhs_contract, b, dims.rhs_contract)) {
    call.fail(fmt::format("{} and {} do not fit with batch dimensions [{}] and [{}], contracting [{}] and [{}]",
                          to_string(call.type(0)), to_string(call.type(1)), join(dims.lhs_batch, ","),
                          join(dims.rhs_batch, ","), join(dims.lhs_contract, ","), join(dims.rhs_contract, ",")));
  }
  Shape shape;
  for (const int64_t dim : dims.lhs_batch) shape.push_back(a[dim]);
  for (const int64_t dim : free_dims(a.rank(), dims.lhs_batch, dims.lhs_contract)) shape.push_back(a[dim]);
  for (const int64_t dim : free_dims(b.rank(), dims.rhs_batch, dims.rhs_contract)) shape.push_back(b[dim]);
  return TensorType{call.attr<DType>("_dtype"), shape};
}

Dims range(int64_t first, size_t count) {
  Dims dims = all_dims(static_cast<int64_t>(count));
  for (int64_t& dim : dims) dim += first;
  return dims;
}

/// The dims of `paired` in ascending order of the dims of `by` that they stand beside.
Dims in_order_of(const Dims& paired, const Dims& by) {
  Dims order = all_dims(static_cast<int64_t>(by.size()));
  std::ranges::sort(order, {}, [&](int64_t i) { return by[static_cast<size_t>(i)]; });
  Dims out;
  for (const int64_t i : order) out.push_back(paired[static_cast<size_t>(i)]);
  return out;
}

/// `x`, whose dimension i is to be dimension `place[i]`.
Tensor put_in_place(Tensor x, const Dims& place) {
  Dims permutation(place.size());
  for (size_t i = 0; i < place.size(); ++i) permutation[static_cast<size_t>(place[i])] = static_cast<int64_t>(i);
  return transpose(x, std::move(permutation));
}

Dims joined(Dims a, const Dims& b, const Dims& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

/// With G of dimensions batch, left free, right free: dA = G·B over B's free ones, dB = A·G over A's free ones.
Grads dot_vjp(const OpCall& call, Tensor grad) {
  const auto& dims = call.attr<DotDims>("dot_dimension_numbers");
  const Tensor a = call.operand(0);
  const Tensor b = call.operand(1);
  const Dims a_free = free_dims(a.rank(), dims.lhs_batch, dims.lhs_contract);
  const Dims b_free = free_dims(b.rank(), dims.rhs_batch, dims.rhs_contract);
  const size_t batch = dims.lhs_batch.size();
  const Dims g_batch = range(0, batch);
  const Dims g_a = range(static_cast<int64_t>(batch), a_free.size());
  const Dims g_b = range(static_cast<int64_t>(batch + a_free.size()), b_free.size());
  const Tensor g = convert(grad, a.dtype());
  const auto product = [&](Tensor x, Tensor y, DotDims of) {
    Attrs attrs = call.attrs;
    attrs.set("dot_dimension_numbers", std::move(of));
    attrs.set("_dtype", a.dtype());
    return emit(call.op, {x, y}, std::move(attrs));
  };
  Grads grads(2);
  if (call.wants(0)) {
    const Tensor d = product(g, b, {g_batch, dims.rhs_batch, g_b, b_free});
    grads[0] = put_in_place(d, joined(dims.lhs_batch, a_free, in_order_of(dims.lhs_contract, dims.rhs_contract)));
  }
  if (call.wants(1)) {
    const Tensor d = product(a, g, {dims.lhs_batch, g_batch, a_free, g_a});
    grads[1] = put_in_place(d, joined(dims.rhs_batch, in_order_of(dims.rhs_contract, dims.lhs_contract), b_free));
  }
  return grads;
}

Dims next(Dims dims) {
  for (int64_t& dim : dims) ++dim;
  return dims;
}

/// Batched on both sides: one more batch dimension. On one side: one more free dimension there, moved to the front.
std::vector<Tensor> batch_dot(const OpCall& call, const std::vector<bool>& batched) {
  DotDims dims = call.attr<DotDims>("dot_dimension_numbers");
  const auto batch = static_cast<int64_t>(dims.lhs_batch.size());
  const int64_t a_free = call.shape(0).rank() - batch - static_cast<int64_t>(dims.lhs_contract.size());
  if (batched[0]) {
    dims.lhs_batch = next(dims.lhs_batch);
    dims.lhs_contract = next(dims.lhs_contract);
  }
  if (batched[1]) {
    dims.rhs_batch = next(dims.rhs_batch);
    dims.rhs_contract = next(dims.rhs_contract);
  }
  const bool both = batched[0] && batched[1];
  if (both) {
    dims.lhs_batch.insert(dims.lhs_batch.begin(), 0);
    dims.rhs_batch.insert(dims.rhs_batch.begin(), 0);
  }
  Attrs attrs = call.attrs;
  attrs.set("dot_dimension_numbers", std::move(dims));
  const Tensor out = emit(call.op, call.operands, std::move(attrs));
  if (both) return {out};
  return {move_dim(out, batched[0] ? batch : batch + a_free, 0)};
}

constinit const OpDef kDotAsIs{.name = "dot_general", .infer = infer_dot};

/// Whether `contract` are the first or the last dimensions, in order, of `rank`.
bool at_an_end(const Dims& contract, int64_t rank) {
  const auto count = static_cast<int64_t>(contract.size());
  return contract == range(0, contract.size()) || contract == range(rank - count, contract.size());
}

/// `x` as a matrix: its contracting dimensions as one and its free ones as one, in the order they have.
Tensor as_matrix(Tensor x, const Dims& contract) {
  int64_t inner = 1;
  for (const int64_t dim : contract) inner *= x.dim(dim);
  const int64_t outer = inner == 0 ? 0 : x.shape().num_elements() / inner;
  return reshape(x, contract[0] == 0 ? Shape{inner, outer} : Shape{outer, inner});
}

/// XLA's CPU backend multiplies matrices twice as fast as arrays of more dimensions, so products without batch
/// dimensions become products of matrices there. Over a mesh the reshapes would mix dimensions that are split.
std::vector<Tensor> lower_dot(const OpCall& call, const Target& target) {
  const auto& dims = call.attr<DotDims>("dot_dimension_numbers");
  const Tensor a = call.operand(0);
  const Tensor b = call.operand(1);
  if (target.tile_products && !target.partitioned) {
    if (const Tensor product = product_by_kernel(call)) return {product};
  }
  const bool matrices = target.platform == Target::Platform::kCpu && !target.partitioned && dims.lhs_batch.empty() &&
                        !dims.lhs_contract.empty() && a.rank() + b.rank() > 4 &&
                        a.rank() > static_cast<int64_t>(dims.lhs_contract.size()) &&
                        b.rank() > static_cast<int64_t>(dims.rhs_contract.size()) &&
                        call.output().shape().num_elements() > 0 && at_an_end(dims.lhs_contract, a.rank()) &&
                        at_an_end(dims.rhs_contract, b.rank());
  if (!matrices) return {emit(kDotAsIs, {a, b}, call.attrs)};
  Attrs attrs = call.attrs;
  attrs.set("dot_dimension_numbers", DotDims{.lhs_contract = {dims.lhs_contract[0] == 0 ? 0 : 1},
                                             .rhs_contract = {dims.rhs_contract[0] == 0 ? 0 : 1}});
  const Tensor out = emit(kDotAsIs, {as_matrix(a, dims.lhs_contract), as_matrix(b, dims.rhs_contract)}, attrs);
  return {reshape(out, call.output().shape())};
}

constinit const OpDef kDotGeneral{
    .name = "dot_general", .infer = infer_dot, .vjp = dot_vjp, .batch = batch_dot, .lower = lower_dot};

constexpr const OpDef* kOps[] = {&kDotAsIs, &kDotGeneral};

}  // namespace

std::span<const OpDef* const> dot_ops() { return kOps; }

std::string precision_config(Precision precision) {
  if (precision == Precision::kDefault) return "";
  return fmt::format("[#stablehlo<precision {0}>, #stablehlo<precision {0}>]",
                     precision == Precision::kHigh ? "HIGH" : "HIGHEST");
}

Tensor dot_general(Tensor lhs, Tensor rhs, DotDims dims, DotOptions options) {
  Attrs attrs{{"dot_dimension_numbers", std::move(dims)}, {"_dtype", options.preferred.value_or(lhs.dtype())}};
  if (std::string text = precision_config(options.precision); !text.empty()) {
    attrs.set("precision_config", Mlir{std::move(text)});
  }
  return emit(kDotGeneral, {lhs, rhs}, std::move(attrs));
}

Tensor matmul(Tensor a, Tensor b, DotOptions options) {
  if (a.rank() < 1 || b.rank() < 1 || a.dim(-1) != b.dim(b.rank() > 1 ? -2 : -1)) {
    fail_op(a.graph(), "matmul",
            fmt::format("{} and {} do not fit: the last dimension of the first must be the last but one of the second",
                        to_string(a.type()), to_string(b.type())));
  }
  const std::string_view left = a.rank() > 1 ? "...mk" : "k";
  const std::string_view right = b.rank() > 1 ? "...kn" : "k";
  const std::string_view out = a.rank() > 1 ? (b.rank() > 1 ? "...mn" : "...m") : (b.rank() > 1 ? "...n" : "");
  return einsum(fmt::format("{},{}->{}", left, right, out), a, b, options);
}

}  // namespace pax
