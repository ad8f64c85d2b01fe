#pragma once

#include "pax/config/registry.h"

// What a shared library of a user's own layers, optimizers, inputs and experiments exports, for `paxml --load FILE`:
//
//   #include "pax/experiments/extension.h"
//   void pax_register(pax::config::Registry& registry) { registry.add<MyLayer::Config>(); }

/// Adds the library's classes. Called once when the library is loaded.
extern "C" [[gnu::visibility("default")]] void pax_register(pax::config::Registry& registry);

/// The version of Pax that the library was built with.
extern "C" {
[[gnu::visibility("default"), gnu::used]] inline const char pax_extension_version[] = "0.1.0";
}
