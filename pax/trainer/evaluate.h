#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "pax/trainer/evaluator.h"
#include "pax/trainer/session.h"
#include "pax/trainer/variables.h"

namespace pax {

/// The evaluators of an experiment's eval inputs; programs are compiled once for inputs of one shape.
std::vector<std::unique_ptr<Evaluator>> make_evaluators(Session& session);

struct EvalOptionsOfRun {
  std::filesystem::path job_log_dir;
  WhichWeights weights = WhichWeights::kAsConfigured;
  bool redo = false;  ///< also what `eval_out` already has
};

struct EvalOutcome {
  int64_t step = 0;
  Tree<Tree<WeightedScalar>> eval;  ///< by data set, then metric
  int64_t done_before = 0;          ///< data sets whose results were there already
  bool stopped = false;             ///< asked to stop before all were done
};

/// Evaluates checkpoints of a run on every eval input. Each metric is a mean over all batches, weighed by its own
/// weight (tokens, mostly). Results go to `eval_out/<data set>/eval_out_<step>_shard_0.jsonl` and to `summaries`; what
/// is there already is read instead.
class EvalRun {
 public:
  /// Throws ConfigError when the experiment has no eval inputs.
  EvalRun(const ExperimentConfig& config, EvalOptionsOfRun options);

  EvalOutcome evaluate(int64_t step, const std::function<bool()>& stop_requested);

 private:
  std::filesystem::path result_path(const std::string& data_set, int64_t step) const;
  void write(const std::string& data_set, int64_t step, const Tree<WeightedScalar>& metrics) const;

  const EvalOptionsOfRun options_;
  Session session_;
  std::vector<std::unique_ptr<Evaluator>> evaluators_;
};

}  // namespace pax
