#pragma once

#include "pax/config/registry.h"

namespace pax {

/// Adds every layer: the one list of the classes that configs may name.
void register_layers(config::Registry& registry);

}  // namespace pax
