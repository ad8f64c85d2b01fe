#include "pax/layers/activations.h"

#include <cmath>
#include <numbers>

#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"

namespace pax {

Tensor relu(Tensor x) { return select(le(x, 0.0), 0.0, x); }

Tensor silu(Tensor x) { return x * logistic(x); }

Tensor gelu_tanh(Tensor x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  return x * (0.5 * (1.0 + tanh(scale * (x + 0.044715 * (x * x * x)))));
}

Tensor gelu_erf(Tensor x) { return x * (0.5 * (1.0 + erf(x * (1 / std::numbers::sqrt2)))); }

Tensor ReLU::fprop(Tensor x) const { return relu(x); }

Tensor SineReLU::fprop(Tensor x) const { return sine(relu(x)); }

Tensor ReLU6::fprop(Tensor x) const { return clamp(0.0, x, 6.0); }

Tensor SquaredReLU::fprop(Tensor x) const { return square(relu(x)); }

Tensor CubedReLU::fprop(Tensor x) const {
  const Tensor y = relu(x);
  return y * square(y);
}

LeakyReLU::LeakyReLU(const Config& config, const Scope& scope)
    : Layer(config, scope), negative_slope_(config.negative_slope) {}

Tensor LeakyReLU::fprop(Tensor x) const { return select(ge(x, 0.0), x, x * negative_slope_); }

Tensor ELU::fprop(Tensor x) const {
  const Tensor positive = gt(x, 0.0);
  return select(positive, x, expm1(select(positive, 0.0, x)));  // the inner choice keeps infinities out of the gradient
}

Tensor Sigmoid::fprop(Tensor x) const { return logistic(x); }

Tensor Tanh::fprop(Tensor x) const { return tanh(x); }

GELU::GELU(const Config& config, const Scope& scope) : Layer(config, scope), approximate_(config.approximate) {}

Tensor GELU::fprop(Tensor x) const { return approximate_ ? gelu_tanh(x) : gelu_erf(x); }

Tensor SiLU::fprop(Tensor x) const { return silu(x); }

Tensor Swish::fprop(Tensor x) const { return silu(x); }

Tensor Softplus::fprop(Tensor x) const { return softplus(x); }

Tensor Exp::fprop(Tensor x) const { return exp(x); }

Tensor Identity::fprop(Tensor x) const { return x; }

}  // namespace pax
