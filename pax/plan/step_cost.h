#pragma once

#include <string>
#include <vector>

#include "pax/ir/sharding.h"
#include "pax/plan/hlo.h"
#include "pax/plan/machine.h"

namespace pax {

/// Collectives of one kind along one set of mesh axes, a step and a device.
struct CollectiveCost {
  std::string kind;
  std::string axes;      ///< mesh axes, "data" or "replica,data"
  int64_t count = 0;     ///< executions
  int64_t bytes = 0;     ///< of the larger of operand and result, all executions
  double seconds = 0;    ///< on the links
  double exposed_s = 0;  ///< of these, while no computing goes on
};

struct LayerCost {
  std::string name;  ///< path in the model
  double seconds = 0;
};

/// The predicted time of a step and what it is spent on.
struct StepCost {
  double seconds = 0;  ///< 0 when there is nothing to predict from
  double compute_s = 0;
  double exposed_s = 0;                     ///< waiting for collectives
  std::vector<CollectiveCost> collectives;  ///< largest first
  std::vector<LayerCost> layers;            ///< all, costliest first
};

/// A mesh and the device of each of its positions.
struct PlacedMesh {
  Mesh mesh;
  std::vector<int64_t> devices;
};

/// Plays the compiled program's schedule: computing one instruction after another, collectives on the links beside it
/// where the program starts them early, loops as often as they run. An instruction's time is the compiler's own
/// estimate in cycles (TPU), or the longer of arithmetic and memory traffic (GPU).
StepCost step_cost(const HloModule& module, const Machine& machine, const PlacedMesh& placed);

}  // namespace pax
