#pragma once

#include "tests/golden/case.h"

namespace pax::golden {

/// Statistics of initial values: of init methods by themselves, and of every weight of some layers.
std::string run_init_case(const RecordedCase& recorded, const Context& context);

}  // namespace pax::golden
