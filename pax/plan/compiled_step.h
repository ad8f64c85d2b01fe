#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "pax/pjrt/topology.h"

namespace pax {

/// What a compiler made of a program, or why it refused.
struct CompiledStep {
  MemoryStats memory;
  OptimizedProgram program;
  std::string refusal;  ///< it does not fit; empty otherwise
  double compile_s = 0;
};

/// Compiled steps on disk: plans of programs seen before cost no compile. Thread-safe; processes may share a folder.
class PlanCache {
 public:
  /// An empty path keeps nothing.
  explicit PlanCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// From disk, or compiled and kept. A damaged file is compiled anew. `machine` tells topologies apart.
  CompiledStep compile(const Topology& topology, std::string_view machine, std::string_view stablehlo,
                       const CompileOptions& options) const;

 private:
  std::filesystem::path directory_;
};

/// `$XDG_CACHE_HOME/pax/plans`, or the same below `~/.cache`.
std::filesystem::path default_plan_cache();

}  // namespace pax
