#pragma once

#include <string>
#include <vector>

#include "pax/plan/plan.h"

namespace pax {

/// A plan for people: what fits, what it takes, what costs most. Several lines.
std::string plan_text(const Plan& plan);

/// A plan as one line of JSON: topology, devices, fits, peak_bytes_per_device, memory, predicted_step_s, predicted_mfu,
/// flops_per_step, collectives, layers, compile_s, …
std::string plan_json(const Plan& plan);

/// A plan as a page of HTML with nothing outside of it.
std::string plan_html(const Plan& plan);

/// How predicted times come about, in one sentence; it depends on the machine.
std::string prediction_method(const Machine& machine);

}  // namespace pax
