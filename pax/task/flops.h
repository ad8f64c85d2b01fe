#pragma once

#include "pax/ir/graph.h"

namespace pax {

/// Floating-point operations of the matrix products and convolutions of a program, 2 for each multiply and add, loops
/// counted as often as they run. Elementwise work is left out, as is usual for model FLOPs.
double count_flops(const Graph& graph);

/// Model FLOPs of a training step whose forward pass is `forward`: once for it, twice as much for the gradient. What
/// remat computes again does not count.
double training_flops(const Graph& forward);

}  // namespace pax
