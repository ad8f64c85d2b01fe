#pragma once

#include "pax/config/registry.h"

namespace pax::data {

/// Adds every config class of this folder: inputs, tokenizers, sources, tasks, preprocessors, converters.
void register_inputs(config::Registry& registry);

}  // namespace pax::data
