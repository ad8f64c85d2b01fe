#pragma once

#include "pax/ir/op.h"

namespace pax {

/// The product `call` of dot_general as a call of the kernel `pax_product`; null where the kernel would not be faster
/// or does not take it: other types than f32 and bf16, small matrices, dimensions that no stride walks through.
Tensor product_by_kernel(const OpCall& call);

}  // namespace pax
