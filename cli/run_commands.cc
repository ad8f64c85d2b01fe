#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/eval_commands.h"
#include "pax/experiments/registry.h"
#include "pax/trainer/train.h"

namespace pax::cli {
namespace {

std::string_view reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kFinished:
      return "finished";
    case StopReason::kPreempted:
      return "stopped on request, saved";
    case StopReason::kDataExhausted:
      return "data exhausted";
    case StopReason::kEarlyStop:
      return "stopped early";
  }
  return "";
}

}  // namespace

LoadedExperiment load_valid(const Common& common) {
  LoadedExperiment loaded = load_experiment(common.experiment, make_registry(common.experiment.libraries));
  validate_experiment(loaded.config);
  return loaded;
}

int train_command(const Common& common) {
  const LoadedExperiment loaded = load_valid(common);
  RunOptions options{.job_log_dir = common.job_log_dir, .extra_files = {}};
  if (!loaded.constants.empty()) options.extra_files["experiment_cls_vars.txt"] = loaded.constants;
  const TrainOutcome outcome = train(loaded.config, options);
  print_metrics(outcome.eval);
  fmt::print("{} at step {}; the run lies in {}\n", reason_name(outcome.reason), outcome.step,
             common.job_log_dir.string());
  if (common.json) {
    const nlohmann::json json{{"exp", loaded.name},
                              {"step", outcome.step},
                              {"reason", reason_name(outcome.reason)},
                              {"job_log_dir", common.job_log_dir.string()},
                              {"eval", metrics_json(outcome.eval)}};
    fmt::print("{}\n", json.dump());
  }
  return outcome.reason == StopReason::kPreempted ? kPreempted : kDone;
}

}  // namespace pax::cli
