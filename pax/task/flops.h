#pragma once

#include <map>
#include <string>

#include "pax/ir/graph.h"

namespace pax {

/// Floating-point operations of the matrix products and convolutions of a program, 2 for each multiply and add, loops
/// counted as often as they run. Elementwise work is left out, as is usual for model FLOPs, and so are products with
/// one-hot rows, which only look rows up.
double count_flops(const Graph& graph);

/// The part of it between activations alone: products with several batching dimensions, which are attention's. Causal
/// attention needs half of them; `count_flops` has them whole, as Pax counts.
double count_attention_flops(const Graph& graph);

/// `count_flops` by the path of the layer that built the operations: "lm/transformer/x_layers_0/ff_layer".
std::map<std::string, double> flops_by_layer(const Graph& graph);

/// Model FLOPs of a training step whose forward pass is `forward`: once for it, twice as much for the gradient. What
/// remat computes again does not count.
double training_flops(const Graph& forward);

}  // namespace pax
