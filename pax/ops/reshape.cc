#include "pax/ops/reshape.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/text.h"

namespace pax {
namespace {

using Dims = std::vector<int64_t>;

constinit const OpDef kReshape{
    .name = "reshape",
    .infer = [](const OpCall& call) -> ResultTypes {
      const Shape shape(call.attr<Dims>("shape"));
      if (shape.num_elements() != call.shape(0).num_elements()) {
        call.fail(fmt::format("{} has {} elements but shape {} has {}", to_string(call.type(0)),
                              call.shape(0).num_elements(), to_string(shape), shape.num_elements()));
      }
      return TensorType{call.type(0).dtype, shape};
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {reshape(grad, call.shape(0))}; },
    .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
      const int64_t size = call.shape(0)[0];
      return {reshape(call.operand(0), Shape(call.attr<Dims>("shape")).prefixed(std::span(&size, 1)))};
    },
    .trait = OpTrait::kFree};

constinit const OpDef kTranspose{.name = "transpose",
                                 .infer = [](const OpCall& call) -> ResultTypes {
                                   const Dims& permutation = call.attr<Dims>("permutation");
                                   const Shape& from = call.shape(0);
                                   Dims sorted = permutation;
                                   std::ranges::sort(sorted);
                                   bool ok = static_cast<int64_t>(sorted.size()) == from.rank();
                                   for (size_t i = 0; ok && i < sorted.size(); ++i)
                                     ok = sorted[i] == static_cast<int64_t>(i);
                                   if (!ok)
                                     call.fail(fmt::format("[{}] is no permutation of the dimensions of {}",
                                                           join(permutation, ","), to_string(call.type(0))));
                                   Dims dims;
                                   for (const int64_t dim : permutation) dims.push_back(from[dim]);
                                   return TensorType{call.type(0).dtype, Shape(std::move(dims))};
                                 },
                                 .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                   const Dims& permutation = call.attr<Dims>("permutation");
                                   Dims inverse(permutation.size());
                                   for (size_t i = 0; i < permutation.size(); ++i)
                                     inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
                                   return {transpose(grad, inverse)};
                                 },
                                 .batch = [](const OpCall& call, const std::vector<bool>&) -> std::vector<Tensor> {
                                   Dims permutation{0};
                                   for (const int64_t dim : call.attr<Dims>("permutation"))
                                     permutation.push_back(dim + 1);
                                   return {transpose(call.operand(0), permutation)};
                                 }};

}  // namespace

Tensor reshape(Tensor x, const Shape& shape) {
  Dims dims(shape.begin(), shape.end());
  const auto open = std::ranges::find(dims, -1);
  if (open != dims.end()) {
    int64_t rest = 1;
    for (const int64_t dim : dims) rest *= dim == -1 ? 1 : dim;
    *open = rest == 0 ? 0 : x.shape().num_elements() / rest;
  }
  if (x.shape() == Shape(dims)) return x;
  return emit(kReshape, {x}, {{"shape", std::move(dims)}});
}

Tensor transpose(Tensor x, Dims permutation) {
  if (std::ranges::is_sorted(permutation) && static_cast<int64_t>(permutation.size()) == x.rank()) return x;
  return emit(kTranspose, {x}, {{"permutation", std::move(permutation)}});
}

Tensor expand_dims(Tensor x, int64_t dim) {
  Dims dims(x.shape().begin(), x.shape().end());
  dims.insert(dims.begin() + (dim < 0 ? dim + x.rank() + 1 : dim), 1);
  return reshape(x, Shape(std::move(dims)));
}

}  // namespace pax
