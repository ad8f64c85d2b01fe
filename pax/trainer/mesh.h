#pragma once

#include "pax/ir/sharding.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// The devices that the experiment's model is laid out over (`ici_mesh_shape` times `dcn_mesh_shape`, under
/// `mesh_axis_names`). No axes: one device. Throws ConfigError when the lengths differ.
Mesh experiment_mesh(const ExperimentConfig& config);

}  // namespace pax
