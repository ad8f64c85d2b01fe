#pragma once

#include "tests/golden/case.h"

namespace pax::golden {

/// A schedule's values over steps, traced and on the host.
std::string run_schedule_case(const RecordedCase& recorded, const Context& context);

/// Steps of an optimizer: updates, weights and states, each step from the recorded weights and states before it.
std::string run_optimizer_case(const RecordedCase& recorded, const Context& context);

/// The same of a learner, with its scaled gradients and the validity of each step.
std::string run_learner_case(const RecordedCase& recorded, const Context& context);

}  // namespace pax::golden
