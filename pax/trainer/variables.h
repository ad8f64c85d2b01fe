#pragma once

#include <filesystem>
#include <optional>

#include "pax/trainer/session.h"

namespace pax {

/// The weights as trained, or their moving average; by default what `task.train.eval_use_ema_states` says.
enum class WhichWeights : uint8_t { kAsConfigured, kTrained, kAverage };

/// The variables an evaluation reads, by their names: the state's, or their moving averages.
DeviceTree eval_variables(const SingleTask& task, const std::deque<Param>& params, const DeviceTree& state);

struct LoadedVariables {
  int64_t step = 0;
  std::filesystem::path checkpoint;
  DeviceTree values;  ///< by state name; nothing of the optimizer
};

/// Reads the model's variables from the newest checkpoint of a run, or that of `step`. Throws RuntimeError when there
/// is no such checkpoint, or it is of another model: every variable that differs is named.
LoadedVariables load_variables(const Session& session, const std::filesystem::path& job_log_dir,
                               std::optional<int64_t> step = {}, WhichWeights which = WhichWeights::kAsConfigured);

}  // namespace pax
