#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pax/ir/graph.h"

namespace pax {

/// The output of a checked program: an i32 scalar, -1 or an index into `sites`.
inline constexpr std::string_view kFirstNonFinite = "first_non_finite";

/// A program that also finds out which op was the first to make a NaN or an infinity.
struct CheckedProgram {
  std::unique_ptr<Graph> graph;
  /// By number: "lm/ffn: divide f32[8,128]", "argument params/w f32[4]".
  std::vector<std::string> sites;
};

/// A copy of `lowered` with one more output, kFirstNonFinite: the first op, loops and branches included, of which a
/// result is not finite while all its operands are; or an argument that is not. Infinite constants are no fault. Slow:
/// for the search of an error.
CheckedProgram check_finite(const Graph& lowered);

}  // namespace pax
