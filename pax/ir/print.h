#pragma once

#include <string>

#include "pax/ir/graph.h"

namespace pax {

/// The program for reading: one line an op in order, `%7 = dot_general(%3, %6) [0]x[1] : bf16[8,128]`, under the path
/// of the layer that built it; blocks of loops and branches indented. What no output needs is left out.
std::string to_readable(const Graph& graph);

}  // namespace pax
