#include "pax/plan/advice.h"

#include <fmt/format.h>

#include <cmath>

#include "pax/base/text.h"

namespace pax {
namespace {

constexpr const char* kPolicyPath = "lm_tpl.stacked_transformer_tpl.checkpoint_policy";

std::string gigabytes(int64_t bytes) { return human_bytes(static_cast<uint64_t>(bytes)); }

int64_t axis_size(const Mesh& mesh, std::string_view name) {
  for (size_t i = 0; i < mesh.axes.size(); ++i) {
    if (mesh.axes[i] == name) return mesh.sizes[i];
  }
  return 1;
}

}  // namespace

std::optional<AutodiffCheckpointType> remat_of(const ExperimentConfig& config) {
  if (!config.task.model || !config.task.model.has_field(kPolicyPath)) return std::nullopt;
  return config.task.model.get<AutodiffCheckpointType>(kPolicyPath);
}

std::vector<std::string> advise(const ExperimentConfig& config, const Plan& plan) {
  const MemoryPlan& memory = plan.memory;
  const int64_t state = memory.weights + memory.optimizer_state;
  const auto devices = static_cast<double>(plan.machine.num_devices());
  std::vector<std::string> advice;
  if (memory.activations > state || memory.activations == 0) {
    const auto policy = remat_of(config);
    if (policy && *policy != AutodiffCheckpointType::kSaveNothing) {
      advice.push_back("keep less for the backward pass: --fdl.CHECKPOINT_POLICY=SAVE_NOTHING");
    }
    if (memory.peak > memory.capacity && memory.activations > 0) {
      const double left = static_cast<double>(memory.capacity - (memory.peak - memory.activations));
      const double part = std::max(0.0, left / static_cast<double>(memory.activations));
      const double per_device = static_cast<double>(plan.rows) / devices;
      advice.push_back(fmt::format("fewer rows a device: --fdl.PERCORE_BATCH_SIZE={:g} (now {:g})",
                                   std::max(1.0, std::floor(per_device * part)), per_device));
    }
    if (axis_size(plan.mesh, "mdl") == 1) {
      advice.push_back("split the activations over an axis of the mesh as well: mdl above 1 in ICI_MESH_SHAPE");
    }
  }
  if (axis_size(plan.mesh, "replica") > 1) {
    advice.push_back(fmt::format(
        "weights and optimizer state take {} on each of {} replicas: move devices from the replica axis to data (FSDP)",
        gigabytes(state), axis_size(plan.mesh, "replica")));
  }
  advice.push_back(fmt::format("more devices: weights and optimizer state are {} a device on {}", gigabytes(state),
                               plan.machine.name));
  return advice;
}

}  // namespace pax
