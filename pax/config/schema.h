#pragma once

#include "pax/config/registry.h"
#include "pax/config/value.h"

namespace pax::config {

/// JSON Schema (2020-12) of texts that `parse` or `update` reads for a config of class `top`: editors complete and
/// check with it. Wherever a template stands, the registry's classes that fit are offered; docs and defaults are
/// included.
Value schema(const ConfigType& top, const Registry& registry);

}  // namespace pax::config
