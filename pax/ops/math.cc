#include <numbers>

#include "pax/ops/all_ops.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

constinit const OpDef kExp{.name = "exponential",
                           .infer = floating_operand,
                           .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * call.output()}; },
                           .trait = OpTrait::kElementwise};

constinit const OpDef kExpm1{
    .name = "exponential_minus_one",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * (call.output() + 1.0)}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kLog{.name = "log",
                           .infer = floating_operand,
                           .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad / call.operand(0)}; },
                           .trait = OpTrait::kElementwise};

constinit const OpDef kLog1p{
    .name = "log_plus_one",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad / (call.operand(0) + 1.0)}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kLogistic{
    .name = "logistic",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * call.output() * (1.0 - call.output())}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kTanh{
    .name = "tanh",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * (1.0 - square(call.output()))}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kSqrt{
    .name = "sqrt",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * 0.5 / call.output()}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kRsqrt{
    .name = "rsqrt",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * -0.5 * call.output() / call.operand(0)}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kCbrt{
    .name = "cbrt",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad / (square(call.output()) * 3.0)}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kSine{
    .name = "sine",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * cosine(call.operand(0))}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kCosine{
    .name = "cosine",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {-grad * sine(call.operand(0))}; },
    .trait = OpTrait::kElementwise};

/// Of ops whose result stays the same when the operand moves a little.
Grads no_gradient(const OpCall&, Tensor) { return {}; }

constinit const OpDef kFloor{
    .name = "floor", .infer = floating_operand, .vjp = no_gradient, .trait = OpTrait::kElementwise};

constinit const OpDef kCeil{
    .name = "ceil", .infer = floating_operand, .vjp = no_gradient, .trait = OpTrait::kElementwise};

constinit const OpDef kRoundNearestEven{
    .name = "round_nearest_even", .infer = floating_operand, .vjp = no_gradient, .trait = OpTrait::kElementwise};

constinit const OpDef kRoundNearestAfz{
    .name = "round_nearest_afz", .infer = floating_operand, .vjp = no_gradient, .trait = OpTrait::kElementwise};

constexpr double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi;

constinit const OpDef kErf{.name = "chlo.erf",
                           .infer = floating_operand,
                           .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                             return {grad * kTwoOverSqrtPi * exp(-square(call.operand(0)))};
                           },
                           .trait = OpTrait::kElementwise};

constinit const OpDef kErfc{.name = "chlo.erfc",
                            .infer = floating_operand,
                            .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                              return {grad * -kTwoOverSqrtPi * exp(-square(call.operand(0)))};
                            },
                            .trait = OpTrait::kElementwise};

constinit const OpDef kErfInv{.name = "chlo.erf_inv",
                              .infer = floating_operand,
                              .vjp = [](const OpCall& call, Tensor grad) -> Grads {
                                return {grad * (1 / kTwoOverSqrtPi) * exp(square(call.output()))};
                              },
                              .trait = OpTrait::kElementwise};

constinit const OpDef kLgamma{
    .name = "chlo.lgamma",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * digamma(call.operand(0))}; },
    .trait = OpTrait::kElementwise};

constinit const OpDef kDigamma{.name = "chlo.digamma", .infer = floating_operand, .trait = OpTrait::kElementwise};

constinit const OpDef kSoftplus{
    .name = "softplus",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {grad * logistic(call.operand(0))}; },
    .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> {
      const Tensor x = call.operand(0);
      return {maximum(x, 0.0) + log1p(exp(-abs(x)))};
    },
    .trait = OpTrait::kElementwise};

constexpr const OpDef* kOps[] = {&kExp,
                                 &kExpm1,
                                 &kLog,
                                 &kLog1p,
                                 &kLogistic,
                                 &kTanh,
                                 &kSqrt,
                                 &kRsqrt,
                                 &kCbrt,
                                 &kSine,
                                 &kCosine,
                                 &kFloor,
                                 &kCeil,
                                 &kRoundNearestEven,
                                 &kRoundNearestAfz,
                                 &kErf,
                                 &kErfc,
                                 &kErfInv,
                                 &kLgamma,
                                 &kDigamma,
                                 &kSoftplus};

}  // namespace

std::span<const OpDef* const> math_ops() { return kOps; }

Tensor exp(Tensor x) { return emit(kExp, {x}); }
Tensor expm1(Tensor x) { return emit(kExpm1, {x}); }
Tensor log(Tensor x) { return emit(kLog, {x}); }
Tensor log1p(Tensor x) { return emit(kLog1p, {x}); }
Tensor logistic(Tensor x) { return emit(kLogistic, {x}); }
Tensor tanh(Tensor x) { return emit(kTanh, {x}); }
Tensor sqrt(Tensor x) { return emit(kSqrt, {x}); }
Tensor rsqrt(Tensor x) { return emit(kRsqrt, {x}); }
Tensor cbrt(Tensor x) { return emit(kCbrt, {x}); }
Tensor sine(Tensor x) { return emit(kSine, {x}); }
Tensor cosine(Tensor x) { return emit(kCosine, {x}); }
Tensor tan(Tensor x) { return sine(x) / cosine(x); }
Tensor floor(Tensor x) { return emit(kFloor, {x}); }
Tensor ceil(Tensor x) { return emit(kCeil, {x}); }
Tensor round_nearest_even(Tensor x) { return emit(kRoundNearestEven, {x}); }
Tensor round_nearest_afz(Tensor x) { return emit(kRoundNearestAfz, {x}); }
Tensor erf(Tensor x) { return emit(kErf, {x}); }
Tensor erfc(Tensor x) { return emit(kErfc, {x}); }
Tensor erf_inv(Tensor x) { return emit(kErfInv, {x}); }
Tensor lgamma(Tensor x) { return emit(kLgamma, {x}); }
Tensor digamma(Tensor x) { return emit(kDigamma, {x}); }
Tensor softplus(Tensor x) { return emit(kSoftplus, {x}); }

Tensor logaddexp(Tensor a, Tensor b) {
  // Where both are the same infinity the difference is NaN, and the answer is that infinity.
  const Tensor difference = a - b;
  const Tensor same = ne(difference, difference);
  return select(same, a + b, maximum(a, b) + log1p(exp(-abs(select(same, 0.0, difference)))));
}

}  // namespace pax
