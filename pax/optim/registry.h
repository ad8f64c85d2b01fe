#pragma once

#include "pax/config/registry.h"

namespace pax {

/// Adds every schedule, optimizer and learner.
void register_optim(config::Registry& registry);

}  // namespace pax
