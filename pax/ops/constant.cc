#include "pax/ops/constant.h"

#include <fmt/format.h>

#include "pax/ops/broadcast.h"

namespace pax {
namespace {

std::vector<Tensor> same_unbatched(const OpCall& call, const std::vector<bool>&) { return call.results; }

constinit const OpDef kConstant{
    .name = "constant",
    .infer = [](const OpCall& call) -> ResultTypes { return call.attr<HostArray>("value").type(); },
    .batch = same_unbatched,
    .trait = OpTrait::kFree};

}  // namespace

Tensor constant(Graph& graph, HostArray value) { return emit(graph, kConstant, {{"value", std::move(value)}}); }

Tensor full(Graph& graph, TensorType type, double value) {
  const Tensor scalar = constant(graph, from_doubles(std::span(&value, 1), {type.dtype, {}}));
  return type.shape.rank() == 0 ? scalar : broadcast_in_dim(scalar, type.shape, {});
}

Tensor full_like(Tensor like, double value) { return full(like.graph(), like.type(), value); }

Tensor zeros_like(Tensor like) { return full_like(like, 0); }

constinit const OpDef kIota{
    .name = "iota",
    .infer = [](const OpCall& call) -> ResultTypes {
      const Shape shape(call.attr<std::vector<int64_t>>("shape"));
      const int64_t dim = call.attr<int64_t>("iota_dimension");
      if (dim < 0 || dim >= shape.rank()) {
        call.fail(fmt::format("dimension {} of shape {} does not exist", dim, to_string(shape)));
      }
      return TensorType{call.attr<DType>("dtype"), shape};
    },
    .batch = same_unbatched,
    .trait = OpTrait::kFree};

Tensor iota(Graph& graph, TensorType type, int64_t dim) {
  const std::vector<int64_t> shape(type.shape.begin(), type.shape.end());
  return emit(graph, kIota, {{"iota_dimension", dim}, {"shape", shape}, {"dtype", type.dtype}});
}

}  // namespace pax
