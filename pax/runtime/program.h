#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pax/ir/graph.h"
#include "pax/runtime/compile_cache.h"
#include "pax/runtime/device_array.h"

namespace pax {

/// A named argument or result of a program.
struct ProgramValue {
  std::string name;
  TensorType type;
  Sharding sharding;
};

/// A program as text with the names of its arguments and results. A result with the name of an argument is its next
/// value and takes over its memory.
struct ProgramText {
  std::string stablehlo;
  std::vector<ProgramValue> arguments;
  std::vector<ProgramValue> results;
};

/// Writes a lowered graph with the names it has.
ProgramText program_text(const Graph& lowered, const Mesh& mesh = {}, std::string_view name = "pax");

/// A compiled step: named arrays in, named arrays out.
class Program {
 public:
  /// Compiles, or takes it from the cache.
  Program(std::shared_ptr<const DeviceMesh> mesh, ProgramText text, CompileCache& cache);

  /// Runs once. Arguments are looked up in `state`, then in `inputs`. Results named as arguments replace `state`'s
  /// entries, whose old memory is given up; the others are returned. Does not wait. Throws RuntimeError naming the
  /// argument that is missing or of another type.
  DeviceTree step(DeviceTree& state, const DeviceTree& inputs = {}) const;

  /// Runs once and leaves all inputs as they are; returns every result.
  DeviceTree run(const DeviceTree& inputs) const;

  const ProgramText& text() const { return text_; }
  const LoadedExecutable& executable() const { return executable_; }

 private:
  DeviceTree launch(const std::vector<const DeviceArray*>& arguments, const ExecuteOptions& options) const;

  std::shared_ptr<const DeviceMesh> mesh_;
  ProgramText text_;
  LoadedExecutable executable_;
  std::vector<int64_t> donated_;
};

}  // namespace pax
