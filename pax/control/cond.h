#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pax/ir/graph.h"

namespace pax {

/// One way of a branch: its results from `inputs`.
using Branch = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;

/// The results of `on_true(inputs)` where `pred`, a bool scalar, holds, else of `on_false(inputs)`; only one of them
/// runs. Both give results of the same types and may use values from outside. The gradient runs that branch again.
/// Side results of the branches are dropped. Under vmap with a predicate per element both run.
std::vector<Tensor> cond(Tensor pred, const Branch& on_true, const Branch& on_false,
                         std::span<const Tensor> inputs = {});

/// The results of branch `index`, an integer scalar; out of range it means the last one.
std::vector<Tensor> switch_case(Tensor index, std::span<const Branch> branches, std::span<const Tensor> inputs = {});

}  // namespace pax
