#pragma once

namespace pax {

namespace config {
class Registry;
}

/// The image models of paxml.tasks.vision, and their synthetic images.
void register_vision(config::Registry& registry);
void register_mnist(config::Registry& registry);

}  // namespace pax
