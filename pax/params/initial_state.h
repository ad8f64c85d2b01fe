#pragma once

#include <deque>

#include "pax/array/tree.h"
#include "pax/params/param_spec.h"

namespace pax {

/// The first value of a variable, of its stored type, traced where the graph of `key` (u32[2], the model's) is being
/// written. Its own key comes from the variable's name and, for stacked layers, the number of the repetition: the
/// values do not depend on the mesh, nor on what else the model holds. Several keys (u32[...,2]) give as many draws.
Tensor initial_value(const Param& param, Tensor key);

/// The same for all, by Param::state_name().
Tree<Tensor> initial_values(const std::deque<Param>& params, Tensor key);

}  // namespace pax
