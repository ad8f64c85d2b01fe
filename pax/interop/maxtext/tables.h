#pragma once

#include <string_view>

namespace pax::maxtext {

// The tables beside this file, one key, model or topology a line, cells separated by tabs.
extern const std::string_view kKeysTable, kExtraKeysTable, kModelsTable, kTopologiesTable;

}  // namespace pax::maxtext
