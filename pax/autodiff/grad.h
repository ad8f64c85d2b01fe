#pragma once

#include <span>
#include <vector>

#include "pax/ir/tensor.h"

namespace pax {

/// Reverse mode: d loss / d wrt[i] for a scalar floating `loss`, written after it in the same program. Where the loss
/// does not depend on wrt[i] the gradient is zeros. Throws ShapeError for integer wrt and for ops without a gradient.
std::vector<Tensor> grad(Tensor loss, std::span<const Tensor> wrt);
std::vector<Tensor> grad(Tensor loss, std::initializer_list<Tensor> wrt);

/// The product of `cotangents` with the Jacobian of `outputs`: gradients of sum(outputs * cotangents). Null cotangents
/// count as zero; the result is null where nothing depends.
std::vector<Tensor> pullback(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                             std::span<const Tensor> wrt);

/// For each value of the graph of `wrt`, whether it is floating and depends on one of `wrt`, within the block that is
/// being written and those around it.
std::vector<bool> dependent_values(std::span<const Tensor> wrt);

}  // namespace pax
