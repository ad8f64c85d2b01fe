#pragma once

#include "pax/config/registry.h"

namespace pax {

/// Every class that a config may name: experiments, layers, models, optimizers, inputs.
config::Registry make_registry();

/// The experiments among them, by name.
void register_experiments(config::Registry& registry);

}  // namespace pax
