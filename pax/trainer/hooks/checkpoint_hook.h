#pragma once

#include <functional>

#include "pax/checkpoint/manager.h"
#include "pax/trainer/hook.h"

namespace pax {

/// Saves when the manager says that it is due, at the start of a run that has none, at its end, and when it is stopped.
class CheckpointHook final : public Hook {
 public:
  /// `items`: the small texts to save beside the state of a step (input position, provenance).
  CheckpointHook(CheckpointManager& manager, std::function<std::map<std::string, std::string>()> items);

  void on_result(const StepResult&) override { manager_.check(); }
  bool wants(int64_t step) const override { return manager_.should_save(step); }
  void after_step(int64_t step, const DeviceTree& state) override { save(step, state); }
  /// Returns when the last checkpoint is on the disk.
  void finish(StopReason reason, int64_t step, const DeviceTree& state) override;

 private:
  void save(int64_t step, const DeviceTree& state);

  CheckpointManager& manager_;
  std::function<std::map<std::string, std::string>()> items_;
};

/// The state under the names that Pax's checkpoints have: variables below `mdl_vars/`.
HostTree to_checkpoint_names(HostTree state);
Tree<TensorType> to_checkpoint_names(Tree<TensorType> state);
/// The reverse.
HostTree from_checkpoint_names(HostTree state);

}  // namespace pax
