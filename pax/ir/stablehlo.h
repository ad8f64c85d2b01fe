#pragma once

#include <string>

#include "pax/ir/transform.h"

namespace pax {

struct StablehloOptions {
  std::string module_name = "pax";
  /// Devices the program is partitioned over; axis names in shardings refer to it. Empty: one device.
  Mesh mesh;
  /// Write layer paths as locations: they become op names in compiled programs, profiles and errors.
  bool locations = true;
};

/// Writes a lowered program as StableHLO text in its generic form, which every PJRT plugin parses.
/// An output named as an argument of the same type is written as its alias: the plugin may reuse the buffer.
std::string to_stablehlo(const Graph& lowered, const StablehloOptions& options = {});

}  // namespace pax
