#pragma once

#include "tests/golden/case.h"

namespace pax::golden {

/// Builds the layer of a recorded case from its config, binds the recorded weights and inputs, and compares results,
/// updated variables, auxiliary losses, the loss and its gradients.
std::string run_layer_case(const RecordedCase& recorded, const Context& context);

}  // namespace pax::golden
