#pragma once

#include "pax/kernels/kernel_call.h"

namespace pax {

// What programs call, by their names in registry.cc. Operands, results and attributes as the ops' lowerings write them.

/// Attention and its gradients (ops/attention.cc).
void attention_kernel(const KernelCall& call);
void attention_grad_kernel(const KernelCall& call);

/// Products of matrices, one for each index of the batch dimensions (ops/dot.cc).
void product_kernel(const KernelCall& call);

}  // namespace pax
