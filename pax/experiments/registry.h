#pragma once

#include <filesystem>
#include <span>

#include "pax/config/registry.h"

namespace pax {

/// Every class that a config may name: experiments, layers, models, optimizers, inputs.
config::Registry make_registry();
/// With those of shared libraries (extension.h), which stay loaded. Throws ConfigError naming a library that cannot be
/// loaded or was built for another version.
config::Registry make_registry(std::span<const std::filesystem::path> libraries);

/// The experiments among them, by name.
void register_experiments(config::Registry& registry);

}  // namespace pax
