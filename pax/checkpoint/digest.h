#pragma once

#include <string>

#include "pax/checkpoint/reader.h"

namespace pax {

/// One digest of step and all arrays (names, types, values), whatever the layout of the files: two checkpoints have the
/// same one exactly when they hold the same state. 32 hexadecimal digits.
std::string state_digest(int64_t step, const HostTree& state);
/// The same, holding one array at a time in memory.
std::string state_digest(const CheckpointReader& checkpoint);

}  // namespace pax
