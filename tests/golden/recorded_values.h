#pragma once

#include <string_view>
#include <vector>

#include "tests/golden/case.h"
#include "tests/golden/compare.h"

namespace pax::golden {

/// An integer or real number of a recorded JSON.
double number_of(const config::Value& value);
/// A list of integers; empty when null.
std::vector<int64_t> integers_of(const config::Value* value);
/// `tolerance_rtol_atol` of `out` or `grad`; exact when there is none.
Tolerance tolerance_of(const RecordedCase& recorded, std::string_view of);

}  // namespace pax::golden
