#pragma once

#include <memory>

#include "pax/runtime/program.h"
#include "pax/task/steps.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// The devices of an experiment, and its programs on them.
class Session {
 public:
  /// Opens the platform. On CPU there are as many virtual devices as the mesh has, unless the config says otherwise.
  explicit Session(const ExperimentConfig& config);

  const ExperimentConfig& config() const { return config_; }
  const std::shared_ptr<const DeviceMesh>& mesh() const { return mesh_; }
  CompileCache& cache() { return cache_; }
  int64_t compile_count() const { return cache_.compiles(); }

  /// Lowers and compiles a traced program, or takes it from the cache.
  std::shared_ptr<const Program> compile(const TracedProgram& traced, std::string_view name);

  /// A host batch as `batch/<field>` on the devices, split as the task says.
  DeviceTree batch_to_device(const HostTree& batch) const;
  /// A whole state on the devices, split as `entries` say.
  DeviceTree state_to_device(const HostTree& state, const std::vector<StateEntry>& entries) const;

 private:
  ExperimentConfig config_;
  std::shared_ptr<const DeviceMesh> mesh_;
  CompileCache cache_;
};

}  // namespace pax
