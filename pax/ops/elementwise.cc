#include "pax/ops/elementwise.h"

#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"

namespace pax {
namespace {

constinit const OpDef kAdd{.name = "add",
                           .infer = same_as_operands,
                           .vjp = [](const OpCall&, Tensor grad) -> Grads {
                             return {grad, grad};
                           },
                           .trait = OpTrait::kElementwise};

constinit const OpDef kMultiply{
    .name = "multiply",
    .infer = same_as_operands,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      return {call.wants(0) ? grad * call.operand(1) : Tensor(), call.wants(1) ? grad * call.operand(0) : Tensor()};
    },
    .trait = OpTrait::kElementwise};

constinit const OpDef kNegate{.name = "negate",
                              .infer = same_as_operand,
                              .vjp = [](const OpCall&, Tensor grad) -> Grads { return {-grad}; },
                              .trait = OpTrait::kElementwise};

constinit const OpDef kExp{.name = "exponential",
                           .infer = same_as_operand,
                           .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * call.output()}; },
                           .trait = OpTrait::kElementwise};

Tensor binary(const OpDef& op, Tensor a, Tensor b) {
  const auto [x, y] = broadcast_together(op.name, a, b);
  return emit(op, {x, y});
}

}  // namespace

Tensor add(Tensor a, Tensor b) { return binary(kAdd, a, b); }
Tensor multiply(Tensor a, Tensor b) { return binary(kMultiply, a, b); }
Tensor negate(Tensor x) { return emit(kNegate, {x}); }
Tensor exp(Tensor x) { return emit(kExp, {x}); }
Tensor operator+(Tensor a, double b) { return a + full_like(a, b); }
Tensor operator*(Tensor a, double b) { return a * full_like(a, b); }

}  // namespace pax
