#pragma once

#include <filesystem>

#include "pax/metrics/weighted_mean.h"
#include "pax/task/steps.h"
#include "pax/trainer/experiment.h"
#include "pax/trainer/hook.h"

namespace pax {

struct RunOptions {
  std::filesystem::path job_log_dir;
  /// Texts for the run's directory, by file name: `experiment_cls_vars.txt`.
  Tree<std::string> extra_files;
};

struct TrainOutcome {
  StopReason reason = StopReason::kFinished;
  int64_t step = 0;
  Tree<Tree<WeightedScalar>> eval;  ///< the last evaluation: by data set, then metric
};

/// Trains in `job_log_dir`: continues its newest checkpoint, or begins. Returns when the run ended and all is saved.
TrainOutcome train(const ExperimentConfig& config, const RunOptions& options);

}  // namespace pax
