#pragma once

#include <string>
#include <vector>

#include "pax/plan/sweep.h"

namespace pax::cli {

/// Plans every alternative in a process of its own, `jobs` at a time: this program again with `args` and the
/// alternative's constants. Compilers are free to take memory or fail without harm to the others.
std::vector<SweepRow> sweep(const std::vector<std::string>& args, const std::vector<Alternative>& alternatives,
                            size_t jobs);

}  // namespace pax::cli
