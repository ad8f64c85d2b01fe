#pragma once

namespace pax {

namespace config {
class Registry;
}

/// MaxText's model presets as experiments: `maxtext.llama2-7b` and the like, with constants for size and run.
void register_maxtext(config::Registry& registry);

}  // namespace pax
