#include "pax/ops/convert.h"

#include <fmt/format.h>

#include "pax/ops/all_ops.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

constinit const OpDef kConvert{.name = "convert",
                               .infer = [](const OpCall& call) -> ResultTypes {
                                 return TensorType{call.attr<DType>("_dtype"), call.shape(0)};
                               },
                               .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                 if (!is_floating(call.type(0).dtype)) return {};
                                 return {convert(grad, call.type(0).dtype)};
                               },
                               .trait = OpTrait::kElementwise};

constinit const OpDef kBitcastConvert{
    .name = "bitcast_convert",
    .infer = [](const OpCall& call) -> ResultTypes {
      const DType to = call.attr<DType>("_dtype");
      if (byte_size(to) != byte_size(call.type(0).dtype)) {
        call.fail(fmt::format("{} has elements of {} bytes but {} has {}", to_string(call.type(0)),
                              byte_size(call.type(0).dtype), mlir_name(to), byte_size(to)));
      }
      return TensorType{to, call.shape(0)};
    },
    .vjp = [](const OpCall&, Tensor) -> Grads { return {}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kReducePrecision{
    .name = "reduce_precision",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {emit(call.op, {grad}, call.attrs)}; },
    .trait = OpTrait::kElementwise};

constexpr const OpDef* kOps[] = {&kConvert, &kBitcastConvert, &kReducePrecision};

}  // namespace

std::span<const OpDef* const> convert_ops() { return kOps; }

Tensor convert(Tensor x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return emit(kConvert, {x}, {{"_dtype", dtype}});
}

Tensor bitcast_convert(Tensor x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return emit(kBitcastConvert, {x}, {{"_dtype", dtype}});
}

Tensor reduce_precision(Tensor x, int64_t exponent_bits, int64_t mantissa_bits) {
  return emit(kReducePrecision, {x},
              {{"exponent_bits", Mlir{fmt::format("{} : i32", exponent_bits)}},
               {"mantissa_bits", Mlir{fmt::format("{} : i32", mantissa_bits)}}});
}

}  // namespace pax
