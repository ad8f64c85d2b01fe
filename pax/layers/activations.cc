#include "pax/layers/activations.h"

#include "pax/ops/activations.h"
#include "pax/ops/elementwise.h"

namespace pax {

Tensor ReLU::fprop(Tensor x) const { return relu(x); }

Tensor SineReLU::fprop(Tensor x) const { return sine(relu(x)); }

Tensor ReLU6::fprop(Tensor x) const { return relu6(x); }

Tensor SquaredReLU::fprop(Tensor x) const { return squared_relu(x); }

Tensor CubedReLU::fprop(Tensor x) const {
  const Tensor y = relu(x);
  return y * square(y);
}

LeakyReLU::LeakyReLU(const Config& config, const Scope& scope)
    : Layer(config, scope), negative_slope_(config.negative_slope) {}

Tensor LeakyReLU::fprop(Tensor x) const { return leaky_relu(x, negative_slope_); }

Tensor ELU::fprop(Tensor x) const { return elu(x); }

Tensor Sigmoid::fprop(Tensor x) const { return logistic(x); }

Tensor Tanh::fprop(Tensor x) const { return tanh(x); }

GELU::GELU(const Config& config, const Scope& scope) : Layer(config, scope), approximate_(config.approximate) {}

Tensor GELU::fprop(Tensor x) const { return gelu(x, approximate_ ? Gelu::kTanh : Gelu::kExact); }

Tensor SiLU::fprop(Tensor x) const { return silu(x); }

Tensor Swish::fprop(Tensor x) const { return silu(x); }

Tensor Softplus::fprop(Tensor x) const { return softplus(x); }

Tensor Exp::fprop(Tensor x) const { return exp(x); }

Tensor Identity::fprop(Tensor x) const { return x; }

template const config::ConfigType& config::type_of<ReLU::Config>();
template const config::ConfigType& config::type_of<SineReLU::Config>();
template const config::ConfigType& config::type_of<ReLU6::Config>();
template const config::ConfigType& config::type_of<SquaredReLU::Config>();
template const config::ConfigType& config::type_of<CubedReLU::Config>();
template const config::ConfigType& config::type_of<LeakyReLU::Config>();
template const config::ConfigType& config::type_of<GELU::Config>();
template const config::ConfigType& config::type_of<ELU::Config>();
template const config::ConfigType& config::type_of<Sigmoid::Config>();
template const config::ConfigType& config::type_of<Tanh::Config>();
template const config::ConfigType& config::type_of<SiLU::Config>();
template const config::ConfigType& config::type_of<Swish::Config>();
template const config::ConfigType& config::type_of<Softplus::Config>();
template const config::ConfigType& config::type_of<Exp::Config>();
template const config::ConfigType& config::type_of<Identity::Config>();

}  // namespace pax
