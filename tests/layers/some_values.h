#pragma once

#include "tests/layers/testing.h"

namespace pax {

/// Small floats that differ from one another, for every floating input and variable of the program; the same each time.
HostTree some_values(const TracedLayer& traced);

}  // namespace pax
