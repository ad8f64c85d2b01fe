#include "pax/ops/constant.h"

#include <fmt/format.h>

#include <limits>

#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"

namespace pax {
namespace {

std::vector<Tensor> same_unbatched(const OpCall& call, const std::vector<bool>&) { return call.results; }

constinit const OpDef kConstant{
    .name = "constant",
    .infer = [](const OpCall& call) -> ResultTypes { return call.attr<HostArray>("value").type(); },
    .batch = same_unbatched,
    .trait = OpTrait::kFree};

constinit const OpDef kIota{
    .name = "iota",
    .infer = [](const OpCall& call) -> ResultTypes {
      const Shape shape(call.attr<std::vector<int64_t>>("_shape"));
      const int64_t dim = call.attr<int64_t>("iota_dimension");
      if (dim < 0 || dim >= shape.rank()) {
        call.fail(fmt::format("dimension {} of shape {} does not exist", dim, to_string(shape)));
      }
      if (call.attr<DType>("_dtype") == DType::kPred) call.fail("bool does not count; compare integers instead");
      return TensorType{call.attr<DType>("_dtype"), shape};
    },
    .batch = same_unbatched,
    .trait = OpTrait::kFree};

constexpr const OpDef* kOps[] = {&kConstant, &kIota};

}  // namespace

std::span<const OpDef* const> constant_ops() { return kOps; }

Tensor constant(Graph& graph, HostArray value) { return emit(graph, kConstant, {{"value", std::move(value)}}); }

Tensor full(Graph& graph, TensorType type, double value) {
  const Tensor scalar = constant(graph, from_doubles(std::span(&value, 1), {type.dtype, {}}));
  return type.shape.rank() == 0 ? scalar : broadcast_in_dim(scalar, type.shape, {});
}

Tensor full_like(Tensor like, double value) { return full(like.graph(), like.type(), value); }

Tensor lowest(Graph& graph, DType dtype) {
  const bool infinite = dtype == DType::kBF16 || dtype == DType::kF16 || dtype == DType::kF32 || dtype == DType::kF64;
  if (infinite) return full(graph, {dtype, {}}, -std::numeric_limits<double>::infinity());
  if (is_floating(dtype)) return full(graph, {dtype, {}}, -max_finite(dtype));
  return full(graph, {dtype, {}}, is_signed(dtype) ? -max_finite(dtype) - 1 : 0);
}

Tensor highest(Graph& graph, DType dtype) {
  const bool infinite = dtype == DType::kBF16 || dtype == DType::kF16 || dtype == DType::kF32 || dtype == DType::kF64;
  if (infinite) return full(graph, {dtype, {}}, std::numeric_limits<double>::infinity());
  // The largest integers of 64 bits are no doubles.
  if (dtype == DType::kS64) return constant(graph, HostArray::scalar(std::numeric_limits<int64_t>::max()));
  if (dtype == DType::kU64) return constant(graph, HostArray::scalar(std::numeric_limits<uint64_t>::max()));
  return full(graph, {dtype, {}}, max_finite(dtype));
}

Tensor zeros_like(Tensor like) { return full_like(like, 0); }

Tensor iota(Graph& graph, TensorType type, int64_t dim) {
  const std::vector<int64_t> shape(type.shape.begin(), type.shape.end());
  return emit(graph, kIota, {{"iota_dimension", dim}, {"_shape", shape}, {"_dtype", type.dtype}});
}

}  // namespace pax
