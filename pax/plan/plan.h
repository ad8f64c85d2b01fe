#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pax/plan/machine.h"
#include "pax/plan/memory.h"
#include "pax/plan/step_cost.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// What a training step would need and take on a machine.
struct Plan {
  std::string experiment;
  Machine machine;
  Mesh mesh;
  int64_t parameters = 0;
  int64_t rows = 0;         ///< of the global batch
  int64_t tokens = 0;       ///< positions of the global batch
  double flops = 0;         ///< model FLOPs of a step (task/flops.h), attention whole
  double causal_flops = 0;  ///< the same with half of the attention
  double trace_ms = 0;      ///< config to gradient and update
  double emit_ms = 0;       ///< lowering and writing the program
  double compile_s = 0;
  MemoryPlan memory;
  std::string refusal;  ///< why the compiler refused; empty when it did not
  StepCost cost;
  std::vector<std::string> advice;  ///< what to try when it does not fit

  bool fits() const { return refusal.empty() && memory.fits(); }
  double tokens_per_s() const { return cost.seconds > 0 ? static_cast<double>(tokens) / cost.seconds : 0; }
  /// Model FLOPs a second over the peak of all devices.
  double mfu() const;
};

struct PlanOptions {
  std::string experiment;       ///< its name, for the report
  NamedValues xla_flags;        ///< debug options of XLA by name
  std::string program_out;      ///< a file that the compiled program (HLO, serialized) is written to
  std::filesystem::path cache;  ///< folder of compiled programs; empty: none
};

/// The experiment's batch, without opening its data when the input can tell from its config.
data::BatchSpec training_batch_spec(const ExperimentConfig& config);

/// Traces the training step, compiles it for `machine` and reads the result. A program that does not fit is a result,
/// not an error. Throws ConfigError when the mesh does not match the machine (both numbers), or its plugin is missing.
Plan make_plan(const ExperimentConfig& config, const Machine& machine, const PlanOptions& options);

}  // namespace pax
