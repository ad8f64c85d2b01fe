#pragma once

#include <functional>
#include <vector>

#include "pax/metrics/event_file.h"
#include "pax/metrics/progress.h"
#include "pax/trainer/evaluator.h"
#include "pax/trainer/hook.h"

namespace pax {

struct EvalOptions {
  int64_t interval = 0;             ///< updates between evaluations; 0: only at the end
  int64_t last_step = 0;            ///< of the whole run
  std::filesystem::path summaries;  ///< folder in which each data set gets its own
  std::function<bool()> stop_requested;
  /// The variables to evaluate, by their names: the state's, or their moving averages.
  std::function<DeviceTree(const DeviceTree& state)> variables;
};

/// Evaluates every data set at an interval and at the end of a run.
class EvalHook final : public Hook {
 public:
  using Results = Tree<Tree<WeightedScalar>>;  ///< by data set, then metric

  EvalHook(std::vector<std::unique_ptr<Evaluator>> evaluators, EvalOptions options, ProgressDisplay& display);
  ~EvalHook() override;

  bool wants(int64_t step) const override;
  void after_step(int64_t step, const DeviceTree& state) override { evaluate(step, state); }
  void finish(StopReason reason, int64_t step, const DeviceTree& state) override;

  /// Of the last evaluation.
  const Results& results() const { return results_; }

 private:
  void evaluate(int64_t step, const DeviceTree& state);

  std::vector<std::unique_ptr<Evaluator>> evaluators_;
  EvalOptions options_;
  ProgressDisplay& display_;
  std::vector<std::unique_ptr<EventFileWriter>> writers_;
  Results results_;
  int64_t evaluated_step_ = -1;
};

}  // namespace pax
