#pragma once

#include "pax/ir/sharding.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// Devices along each axis of a mesh: those of one slice, times slices.
struct MeshShape {
  std::vector<std::string> axes;
  std::vector<int64_t> ici;
  std::vector<int64_t> dcn;  ///< as long as `ici`
};

/// `mesh_axis_names`, `ici_mesh_shape` and `dcn_mesh_shape` of the experiment's model; no axes: one device. Throws
/// ConfigError when the lengths differ.
MeshShape mesh_shape(const ExperimentConfig& config);

/// The devices that the experiment's model is laid out over: `mesh_shape` with both sizes of each axis multiplied.
Mesh experiment_mesh(const ExperimentConfig& config);

}  // namespace pax
