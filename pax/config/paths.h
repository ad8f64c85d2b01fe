#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pax/config/ref.h"
#include "pax/config/registry.h"

namespace pax::config {

class Errors;

/// Sets the member at `path` ("task.model.lm_tpl.layers[2].model_dims", `rules["a.b"]`, "x.activation_tpl.__class__")
/// to what `text` says: YAML, read by the member's type, so `1e-4` is a number for a number and text members need no
/// quotes. Absent keys of maps and empty optional records on the way are made. Throws ConfigError with path, reason and
/// nearest name.
void set_path(const Ref& root, std::string_view path, std::string_view text, const Registry& registry);

/// `path=value` for each, in order; the first `=` divides. All mistakes come in one ConfigError.
void apply_overrides(const Ref& root, std::span<const std::string> assignments, const Registry& registry);
/// As above; mistakes go into `errors`.
void apply_overrides(const Ref& root, std::span<const std::string> assignments, const Registry& registry,
                     Errors& errors);

}  // namespace pax::config
