#pragma once

#include "pax/config/ref.h"

namespace pax::config {

class Errors;

/// Adds every mistake found in the tree without building anything: Required members without a value (but those that
/// `About::fills` of a template's holder names), numbers out of their bounds, nodes that contain themselves, and what
/// each config's own `void validate(config::Errors&) const` says.
void validate(const Ref& root, Errors& errors);

/// Throws one ConfigError with all of them.
void require_valid(const Ref& root);

}  // namespace pax::config
