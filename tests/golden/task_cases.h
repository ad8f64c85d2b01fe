#pragma once

#include "tests/golden/case.h"

namespace pax::golden {

/// Trains a whole task from the recorded weights on the recorded batches: losses, metrics, gradient norms and rates of
/// every step, weights and their moving average where they are recorded.
std::string run_task_case(const RecordedCase& recorded, const Context& context);

}  // namespace pax::golden
