#pragma once

#include "pax/config/registry.h"

namespace pax {

/// Adds tasks and models.
void register_tasks(config::Registry& registry);

}  // namespace pax
