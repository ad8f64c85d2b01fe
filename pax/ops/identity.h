#pragma once

#include <string>
#include <vector>

#include "pax/ir/op.h"

namespace pax {

// Ops that hand their operand on and tell the compiler, the gradient or the remat policy something about it.

/// `x`, through which no gradient flows.
Tensor stop_gradient(Tensor x);

/// The operands, which the compiler computes together and before anything that uses one of the results.
std::vector<Tensor> optimization_barrier(std::vector<Tensor> operands);

/// `x` under a name that remat policies refer to ("query_proj"). The name is attribute `_name` of op `kCheckpointName`.
Tensor checkpoint_name(Tensor x, std::string name);
extern const OpDef kCheckpointName;

/// `x`, laid out over the mesh as `sharding` says; its gradient is laid out likewise. One list of axes a dimension.
/// Not written when the program has no mesh.
Tensor sharding_constraint(Tensor x, Sharding sharding);
extern const OpDef kShardingConstraint;

}  // namespace pax
