#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pax/ir/op.h"

namespace pax {

/// What a function with its own gradient gives: its results, and the values that the gradient will need.
struct WithResiduals {
  std::vector<Tensor> results;
  std::vector<Tensor> residuals;
};

/// Gradients of the inputs in order, null or left out where there is none, from what `forward` kept and the cotangents
/// of its results (never null). Written with public ops, so that it can be differentiated and batched itself.
using Backward = std::function<Grads(std::span<const Tensor> residuals, std::span<const Tensor> cotangents)>;

/// The results of `forward(inputs)`, whose gradient is what `backward` says. What else `forward` uses from outside gets
/// no gradient. Side results of `forward` are dropped.
std::vector<Tensor> custom_vjp(Graph& graph, std::span<const Tensor> inputs,
                               const std::function<WithResiduals(std::span<const Tensor> inputs)>& forward,
                               Backward backward);

}  // namespace pax
