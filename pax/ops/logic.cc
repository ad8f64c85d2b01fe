#include "pax/ops/logic.h"

#include <fmt/format.h>

#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

constinit const OpDef kCompare{.name = "compare",
                               .infer = [](const OpCall& call) -> ResultTypes {
                                 same_as_operands(call);
                                 return TensorType{DType::kPred, call.shape(0)};
                               },
                               .trait = OpTrait::kElementwise};

constinit const OpDef kIsFinite{.name = "is_finite",
                                .infer = [](const OpCall& call) -> ResultTypes {
                                  require_floating(call, 0);
                                  return TensorType{DType::kPred, call.shape(0)};
                                },
                                .trait = OpTrait::kElementwise};

/// Operands: pred, on_true, on_false.
constinit const OpDef kSelect{
    .name = "select",
    .infer = [](const OpCall& call) -> ResultTypes {
      if (call.type(0).dtype != DType::kPred || call.shape(0) != call.shape(1) || call.type(1) != call.type(2)) {
        call.fail(fmt::format("wants bool and two operands of one type and the same shape, but got {}, {} and {}",
                              to_string(call.type(0)), to_string(call.type(1)), to_string(call.type(2))));
      }
      return call.type(1);
    },
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      return {Tensor(), call.wants(1) ? select(call.operand(0), grad, 0.0) : Tensor(),
              call.wants(2) ? select(call.operand(0), 0.0, grad) : Tensor()};
    },
    .trait = OpTrait::kElementwise};

constinit const OpDef kAnd{.name = "and", .infer = bitwise_operands, .trait = OpTrait::kElementwise};
constinit const OpDef kOr{.name = "or", .infer = bitwise_operands, .trait = OpTrait::kElementwise};
constinit const OpDef kXor{.name = "xor", .infer = bitwise_operands, .trait = OpTrait::kElementwise};
constinit const OpDef kNot{.name = "not", .infer = bitwise_operands, .trait = OpTrait::kElementwise};
constinit const OpDef kShiftLeft{.name = "shift_left", .infer = integer_operands, .trait = OpTrait::kElementwise};
constinit const OpDef kShiftRightLogical{
    .name = "shift_right_logical", .infer = integer_operands, .trait = OpTrait::kElementwise};
constinit const OpDef kShiftRightArithmetic{
    .name = "shift_right_arithmetic", .infer = integer_operands, .trait = OpTrait::kElementwise};
constinit const OpDef kPopcnt{.name = "popcnt", .infer = integer_operands, .trait = OpTrait::kElementwise};
constinit const OpDef kCountLeadingZeros{
    .name = "count_leading_zeros", .infer = integer_operands, .trait = OpTrait::kElementwise};

Tensor binary(const OpDef& op, Tensor a, Tensor b) {
  const auto [x, y] = broadcast_together(op.name, a, b);
  return emit(op, {x, y});
}

/// Left out, some plugins compare constants as if they had no sign.
std::string_view compare_type(DType dtype) {
  if (is_floating(dtype)) return "FLOAT";
  return is_signed(dtype) ? "SIGNED" : "UNSIGNED";
}

Tensor compare(std::string_view direction, Tensor a, Tensor b) {
  const auto [x, y] = broadcast_together(kCompare.name, a, b);
  return emit(kCompare, {x, y},
              {{"comparison_direction", Mlir{fmt::format("#stablehlo<comparison_direction {}>", direction)}},
               {"compare_type", Mlir{fmt::format("#stablehlo<comparison_type {}>", compare_type(x.type().dtype))}}});
}

constexpr const OpDef* kOps[] = {&kCompare,
                                 &kIsFinite,
                                 &kSelect,
                                 &kAnd,
                                 &kOr,
                                 &kXor,
                                 &kNot,
                                 &kShiftLeft,
                                 &kShiftRightLogical,
                                 &kShiftRightArithmetic,
                                 &kPopcnt,
                                 &kCountLeadingZeros};

}  // namespace

std::span<const OpDef* const> logic_ops() { return kOps; }

Tensor eq(Tensor a, Tensor b) { return compare("EQ", a, b); }
Tensor ne(Tensor a, Tensor b) { return compare("NE", a, b); }
Tensor lt(Tensor a, Tensor b) { return compare("LT", a, b); }
Tensor le(Tensor a, Tensor b) { return compare("LE", a, b); }
Tensor gt(Tensor a, Tensor b) { return compare("GT", a, b); }
Tensor ge(Tensor a, Tensor b) { return compare("GE", a, b); }
Tensor eq(Tensor a, double b) { return eq(a, full_like(a, b)); }
Tensor ne(Tensor a, double b) { return ne(a, full_like(a, b)); }
Tensor lt(Tensor a, double b) { return lt(a, full_like(a, b)); }
Tensor le(Tensor a, double b) { return le(a, full_like(a, b)); }
Tensor gt(Tensor a, double b) { return gt(a, full_like(a, b)); }
Tensor ge(Tensor a, double b) { return ge(a, full_like(a, b)); }

Tensor is_finite(Tensor x) { return emit(kIsFinite, {x}); }

Tensor select(Tensor pred, Tensor on_true, Tensor on_false) {
  const auto [a, b] = broadcast_together(kSelect.name, on_true, on_false);
  const auto [p, x] = broadcast_together(kSelect.name, pred, a);
  return emit(kSelect, {p, x, broadcast_to(b, x.shape())});
}

Tensor select(Tensor pred, Tensor on_true, double on_false) {
  return select(pred, on_true, full(pred.graph(), {on_true.dtype(), {}}, on_false));
}

Tensor select(Tensor pred, double on_true, Tensor on_false) {
  return select(pred, full(pred.graph(), {on_false.dtype(), {}}, on_true), on_false);
}

Tensor logical_and(Tensor a, Tensor b) { return binary(kAnd, a, b); }
Tensor logical_or(Tensor a, Tensor b) { return binary(kOr, a, b); }
Tensor logical_xor(Tensor a, Tensor b) { return binary(kXor, a, b); }
Tensor logical_not(Tensor x) { return emit(kNot, {x}); }
Tensor shift_left(Tensor x, Tensor bits) { return binary(kShiftLeft, x, bits); }
Tensor shift_right_logical(Tensor x, Tensor bits) { return binary(kShiftRightLogical, x, bits); }
Tensor shift_right_arithmetic(Tensor x, Tensor bits) { return binary(kShiftRightArithmetic, x, bits); }
Tensor population_count(Tensor x) { return emit(kPopcnt, {x}); }
Tensor count_leading_zeros(Tensor x) { return emit(kCountLeadingZeros, {x}); }

}  // namespace pax
