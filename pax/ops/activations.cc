#include "pax/ops/activations.h"

#include <cmath>
#include <numbers>

#include "pax/ops/all_ops.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"

namespace pax {
namespace {

constinit const OpDef kRelu{
    .name = "relu",
    .infer = floating_operand,
    .vjp = [](const OpCall& call, Tensor grad) -> Grads { return {select(gt(call.output(), 0.0), grad, 0.0)}; },
    .lower = [](const OpCall& call, const Target&) -> std::vector<Tensor> { return {maximum(call.operand(0), 0.0)}; },
    .trait = OpTrait::kElementwise};

constexpr const OpDef* kOps[] = {&kRelu};

}  // namespace

std::span<const OpDef* const> activation_ops() { return kOps; }

Tensor relu(Tensor x) { return emit(kRelu, {x}); }
Tensor relu6(Tensor x) { return clamp(0, x, 6); }
Tensor leaky_relu(Tensor x, double slope) { return select(ge(x, 0.0), x, x * slope); }

Tensor elu(Tensor x, double alpha) {
  const Tensor positive = gt(x, 0.0);
  // The branch not taken is kept away from overflow, which would make its gradient NaN.
  return select(positive, x, expm1(select(positive, 0.0, x)) * alpha);
}

Tensor silu(Tensor x) { return x * logistic(x); }

Tensor gelu(Tensor x, Gelu form) {
  if (form == Gelu::kExact) return x * 0.5 * (erf(x * (1 / std::numbers::sqrt2)) + 1.0);
  const double scale = std::sqrt(2 / std::numbers::pi);
  return x * ((tanh((x + x * x * x * 0.044715) * scale) + 1.0) * 0.5);
}

Tensor squared_relu(Tensor x) { return square(relu(x)); }

}  // namespace pax
