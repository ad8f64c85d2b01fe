#pragma once

#include "pax/ir/op.h"

namespace pax {

// Activation functions. Gradients where a function has a kink are Pax's: ReLU and ReLU6 0, leaky ReLU and ELU 1 at 0.

/// max(x, 0).
Tensor relu(Tensor x);
/// x held between 0 and 6.
Tensor relu6(Tensor x);
/// x, or `slope` x below 0.
Tensor leaky_relu(Tensor x, double slope = 0.01);
/// x, or `alpha` (e^x - 1) below 0.
Tensor elu(Tensor x, double alpha = 1);
/// x logistic(x), also called swish.
Tensor silu(Tensor x);
/// x Φ(x), by its tanh approximation or exactly by erf.
enum class Gelu : uint8_t { kTanh, kExact };
Tensor gelu(Tensor x, Gelu form = Gelu::kTanh);
/// relu(x)².
Tensor squared_relu(Tensor x);

}  // namespace pax
