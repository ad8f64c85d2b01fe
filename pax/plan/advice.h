#pragma once

#include <string>
#include <vector>

#include "pax/control/remat.h"
#include "pax/plan/plan.h"

namespace pax {

/// What to change so that a plan fits, most promising first: remat policy, rows a device, more FSDP, more devices.
std::vector<std::string> advise(const ExperimentConfig& config, const Plan& plan);

/// The remat policy of the model's repeated layers; nothing when it has none.
std::optional<AutodiffCheckpointType> remat_of(const ExperimentConfig& config);

}  // namespace pax
