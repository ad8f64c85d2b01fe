#pragma once

#include <cstdint>
#include <vector>

#include "pax/plan/machine.h"

namespace pax {

/// Which device stands at each position of a mesh (row-major): slices along the axes of `dcn_sizes`, and within a slice
/// each axis of `ici_sizes` on whole dimensions of the slice's network where sizes permit, so that its collectives run
/// along rings. The mesh must have as many devices as the machine.
std::vector<int64_t> place(const std::vector<int64_t>& ici_sizes, const std::vector<int64_t>& dcn_sizes,
                           const Machine& machine);

/// How fast a device of the group talks to the others (bytes a second, one direction): the links of the network's
/// dimensions that the group runs along, half of them where a dimension is no ring; or between slices.
double group_bandwidth(const Machine& machine, const std::vector<int64_t>& devices);

}  // namespace pax
