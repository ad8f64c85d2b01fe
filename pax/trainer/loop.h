#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pax/data/prefetcher.h"
#include "pax/runtime/program.h"
#include "pax/trainer/hook.h"

namespace pax {

/// What the training loop runs on.
struct LoopInputs {
  const Program& step;  ///< state and `batch/…` to state and metrics
  DeviceTree& state;
  data::Prefetcher& batches;
  std::vector<std::unique_ptr<Hook>>& hooks;
  std::function<bool()> stop_requested;
  std::function<DeviceTree(const HostTree&)> to_device;  ///< a host batch as the step's inputs
  /// Throws when a batch must not be trained on.
  std::function<void(const HostTree&, const data::TokenCount&)> check_batch;
  int64_t first_step = 0;  ///< updates that `state` already has
  int64_t num_steps = 0;
  int64_t max_inflight = 2;  ///< steps sent ahead of their results
};

struct LoopEnd {
  StopReason reason = StopReason::kFinished;
  int64_t step = 0;
};

/// Next batch, step, hooks, until the last step, a stop request or the end of the data.
LoopEnd run_loop(const LoopInputs& inputs);

}  // namespace pax
