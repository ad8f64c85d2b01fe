#include "pax/trainer/hooks/eval_hook.h"

#include <fmt/format.h>

namespace pax {

EvalHook::EvalHook(std::vector<std::unique_ptr<Evaluator>> evaluators, EvalOptions options, ProgressDisplay& display)
    : evaluators_(std::move(evaluators)), options_(std::move(options)), display_(display) {
  for (const auto& evaluator : evaluators_) {
    writers_.push_back(std::make_unique<EventFileWriter>(options_.summaries / ("eval_test_" + evaluator->name())));
  }
}

EvalHook::~EvalHook() = default;

bool EvalHook::wants(int64_t step) const {
  if (evaluators_.empty() || step == 0 || step == options_.last_step) return false;
  return options_.interval > 0 && step % options_.interval == 0;
}

void EvalHook::finish(StopReason reason, int64_t step, const DeviceTree& state) {
  if (reason != StopReason::kPreempted && step != evaluated_step_) evaluate(step, state);
  for (const auto& writer : writers_) writer->close();
}

void EvalHook::evaluate(int64_t step, const DeviceTree& state) {
  const DeviceTree variables = options_.variables(state);
  for (size_t i = 0; i < evaluators_.size(); ++i) {
    const std::string& name = evaluators_[i]->name();
    const auto metrics = evaluators_[i]->run(variables, options_.stop_requested);
    if (!metrics) return;
    std::string line = fmt::format("eval {} at step {}:", name, step);
    for (const auto& [metric, mean] : *metrics) {
      writers_[i]->scalar(step, "Metrics/" + metric, mean.value);
      writers_[i]->scalar(step, "Metrics/" + metric + "-weight", mean.weight);
      line += fmt::format(" {} {:.4f}", metric, mean.value);
    }
    results_[name] = *metrics;
    display_.message(line);
  }
  evaluated_step_ = step;
}

}  // namespace pax
