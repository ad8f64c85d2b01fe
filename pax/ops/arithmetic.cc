#include "pax/ops/all_ops.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

/// The gradient if operand `i` wants it, by a function that builds it.
template <class Build>
Tensor when_wanted(const OpCall& call, size_t i, Build build) {
  return call.wants(i) ? build() : Tensor();
}

constinit const OpDef kAdd{.name = "add",
                           .infer = numeric_operands,
                           .vjp = [](const OpCall&, Tensor grad) -> Grads {
                             return {grad, grad};
                           },
                           .trait = OpTrait::kElementwise};

constinit const OpDef kSubtract{.name = "subtract",
                                .infer = numeric_operands,
                                .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                  return {grad, when_wanted(call, 1, [&] { return -grad; })};
                                },
                                .trait = OpTrait::kElementwise};

constinit const OpDef kMultiply{.name = "multiply",
                                .infer = numeric_operands,
                                .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                  return {when_wanted(call, 0, [&] { return grad * call.operand(1); }),
                                          when_wanted(call, 1, [&] { return grad * call.operand(0); })};
                                },
                                .trait = OpTrait::kElementwise};

constinit const OpDef kDivide{.name = "divide",
                              .infer = numeric_operands,
                              .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                const Tensor share = grad / call.operand(1);
                                return {share, when_wanted(call, 1, [&] { return -(share * call.output()); })};
                              },
                              .trait = OpTrait::kElementwise};

Tensor truncated(Tensor x) { return sign(x) * floor(abs(x)); }

constinit const OpDef kRemainder{
    .name = "remainder",
    .infer = numeric_operands,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      return {grad, when_wanted(call, 1, [&] { return -grad * truncated(call.operand(0) / call.operand(1)); })};
    },
    .trait = OpTrait::kElementwise};

/// d/da = b a^(b-1), 0 where b is 0; d/db = log(a) a^b, 0 where a is 0.
Grads power_vjp(const OpCall& call, Tensor grad) {
  const Tensor a = call.operand(0);
  const Tensor b = call.operand(1);
  return {when_wanted(call, 0,
                      [&] {
                        const Tensor flat = eq(b, 0.0);
                        return grad * select(flat, 0.0, b * power(a, select(flat, 1.0, b - 1.0)));
                      }),
          when_wanted(call, 1, [&] { return grad * log(select(eq(a, 0.0), 1.0, a)) * call.output(); })};
}

constinit const OpDef kPower{
    .name = "power", .infer = numeric_operands, .vjp = power_vjp, .trait = OpTrait::kElementwise};

constinit const OpDef kAtan2{
    .name = "atan2",
    .infer = floating_operands,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      const Tensor y = call.operand(0);
      const Tensor x = call.operand(1);
      const Tensor scaled = grad / (square(x) + square(y));
      return {when_wanted(call, 0, [&] { return scaled * x; }), when_wanted(call, 1, [&] { return -scaled * y; })};
    },
    .trait = OpTrait::kElementwise};

/// Of maximum and minimum: all to the operand that was taken, half to each where both are equal.
Grads extremum_vjp(const OpCall& call, Tensor grad) {
  const Tensor a = call.operand(0);
  const Tensor b = call.operand(1);
  const Tensor shared = select(eq(a, b), grad * 0.5, grad);
  return {when_wanted(call, 0, [&] { return select(eq(a, call.output()), shared, 0.0); }),
          when_wanted(call, 1, [&] { return select(eq(b, call.output()), shared, 0.0); })};
}

constinit const OpDef kMaximum{
    .name = "maximum", .infer = same_as_operands, .vjp = extremum_vjp, .trait = OpTrait::kElementwise};

constinit const OpDef kMinimum{
    .name = "minimum", .infer = same_as_operands, .vjp = extremum_vjp, .trait = OpTrait::kElementwise};

/// Operands: low, x, high.
constinit const OpDef kClamp{
    .name = "clamp",
    .infer = numeric_operands,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads {
      const Tensor low = call.operand(0);
      const Tensor x = call.operand(1);
      const Tensor high = call.operand(2);
      return {
          when_wanted(call, 0, [&] { return select(logical_and(gt(low, x), lt(low, high)), grad, 0.0); }),
          when_wanted(call, 1, [&] { return select(logical_and(gt(x, low), lt(x, high)), grad, 0.0); }),
          when_wanted(call, 2, [&] { return select(logical_or(gt(x, high), gt(low, high)), grad, 0.0); }),
      };
    },
    .trait = OpTrait::kElementwise};

constinit const OpDef kNegate{.name = "negate",
                              .infer = numeric_operands,
                              .vjp = [](const OpCall&, Tensor grad) -> Grads { return {-grad}; },
                              .trait = OpTrait::kElementwise};

constinit const OpDef kAbs{
    .name = "abs",
    .infer = numeric_operands,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * sign(call.operand(0))}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kSign{.name = "sign",
                            .infer = numeric_operands,
                            .vjp = [](const OpCall&, Tensor) -> Grads { return {}; },
                            .trait = OpTrait::kElementwise};

Tensor binary(const OpDef& op, Tensor a, Tensor b) {
  const auto [x, y] = broadcast_together(op.name, a, b);
  return emit(op, {x, y});
}

constexpr const OpDef* kOps[] = {&kAdd,     &kSubtract, &kMultiply, &kDivide, &kRemainder, &kPower, &kAtan2,
                                 &kMaximum, &kMinimum,  &kClamp,    &kNegate, &kAbs,       &kSign};

}  // namespace

std::span<const OpDef* const> arithmetic_ops() { return kOps; }

Tensor add(Tensor a, Tensor b) { return binary(kAdd, a, b); }
Tensor subtract(Tensor a, Tensor b) { return binary(kSubtract, a, b); }
Tensor multiply(Tensor a, Tensor b) { return binary(kMultiply, a, b); }
Tensor divide(Tensor a, Tensor b) { return binary(kDivide, a, b); }
Tensor remainder(Tensor a, Tensor b) { return binary(kRemainder, a, b); }
Tensor power(Tensor a, Tensor b) { return binary(kPower, a, b); }
Tensor atan2(Tensor y, Tensor x) { return binary(kAtan2, y, x); }
Tensor maximum(Tensor a, Tensor b) { return binary(kMaximum, a, b); }
Tensor minimum(Tensor a, Tensor b) { return binary(kMinimum, a, b); }
Tensor maximum(Tensor a, double b) { return maximum(a, full_like(a, b)); }
Tensor minimum(Tensor a, double b) { return minimum(a, full_like(a, b)); }

Tensor power(Tensor a, double exponent) {
  if (exponent == 1) return a;
  if (exponent == 2) return square(a);
  if (exponent == 0.5) return sqrt(a);
  if (exponent == -0.5) return rsqrt(a);
  return power(a, full_like(a, exponent));
}

Tensor clamp(Tensor low, Tensor x, Tensor high) {
  const auto [l, y] = broadcast_together(kClamp.name, low, x);
  const auto [h, z] = broadcast_together(kClamp.name, high, y);
  return emit(kClamp, {broadcast_to(l, z.shape()), z, h});
}

Tensor clamp(double low, Tensor x, double high) { return clamp(full_like(x, low), x, full_like(x, high)); }

Tensor negate(Tensor x) { return emit(kNegate, {x}); }
Tensor abs(Tensor x) { return emit(kAbs, {x}); }
Tensor sign(Tensor x) { return emit(kSign, {x}); }
Tensor square(Tensor x) { return x * x; }
Tensor reciprocal(Tensor x) { return 1.0 / x; }

Tensor operator+(Tensor a, double b) { return a + full_like(a, b); }
Tensor operator-(Tensor a, double b) { return a - full_like(a, b); }
Tensor operator*(Tensor a, double b) { return a * full_like(a, b); }
Tensor operator/(Tensor a, double b) { return a / full_like(a, b); }
Tensor operator+(double a, Tensor b) { return full_like(b, a) + b; }
Tensor operator-(double a, Tensor b) { return full_like(b, a) - b; }
Tensor operator*(double a, Tensor b) { return full_like(b, a) * b; }
Tensor operator/(double a, Tensor b) { return full_like(b, a) / b; }

}  // namespace pax
