#pragma once

#include "pax/checkpoint/warm_start.h"
#include "pax/trainer/session.h"

namespace pax {

/// The rules of `task.train.init_from_checkpoint_rules`: a map from checkpoint to CheckpointLoadingRules, as Paxml has
/// it, or a list of them. Throws ConfigError with every mistake.
std::vector<CheckpointLoadingRules> loading_rules(const config::Value& rules);

struct WarmStartResult {
  int64_t step = 0;
  std::map<std::string, std::string> from;  ///< "checkpoint path: name" of each value that was taken
};

/// Puts what the task's rules take from other runs' checkpoints into the first state `state` of a new run. What the
/// optimizer copies from weights (moving averages) is copied from the new ones. Does nothing without rules.
WarmStartResult warm_start_state(const Session& session, const std::deque<Param>& params,
                                 const std::vector<StateEntry>& entries, DeviceTree& state);

}  // namespace pax
