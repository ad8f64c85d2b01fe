#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "pax/experiments/registry.h"
#include "pax/trainer/train.h"

namespace pax::cli {
namespace {

nlohmann::json eval_json(const Tree<Tree<WeightedScalar>>& eval) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [data_set, metrics] : eval) {
    for (const auto& [name, mean] : metrics) {
      out[data_set][name] = {{"value", mean.value}, {"weight", mean.weight}};
    }
  }
  return out;
}

void print_eval(const Tree<Tree<WeightedScalar>>& eval) {
  for (const auto& [data_set, metrics] : eval) {
    for (const auto& [name, mean] : metrics) {
      fmt::print("{}: {} {:.4f} (weight {:.0f})\n", data_set, name, mean.value, mean.weight);
    }
  }
}

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
  LoadedExperiment loaded = load_experiment(common.experiment, make_registry());
  validate_experiment(loaded.config);
  return loaded;
}

int train_command(const Common& common) {
  const LoadedExperiment loaded = load_valid(common);
  RunOptions options{.job_log_dir = common.job_log_dir, .extra_files = {}};
  if (!loaded.constants.empty()) options.extra_files["experiment_cls_vars.txt"] = loaded.constants;
  const TrainOutcome outcome = train(loaded.config, options);
  print_eval(outcome.eval);
  fmt::print("{} at step {}; the run lies in {}\n", reason_name(outcome.reason), outcome.step,
             common.job_log_dir.string());
  if (common.json) {
    const nlohmann::json json{{"exp", loaded.name},
                              {"step", outcome.step},
                              {"reason", reason_name(outcome.reason)},
                              {"job_log_dir", common.job_log_dir.string()},
                              {"eval", eval_json(outcome.eval)}};
    fmt::print("{}\n", json.dump());
  }
  return outcome.reason == StopReason::kPreempted ? kPreempted : kDone;
}

int eval_command(const Common& common, std::optional<int64_t> step) {
  const LoadedExperiment loaded = load_valid(common);
  const EvalOutcome outcome = evaluate(loaded.config, {.job_log_dir = common.job_log_dir, .extra_files = {}}, step);
  fmt::print("checkpoint of step {}\n", outcome.step);
  print_eval(outcome.eval);
  if (common.json) {
    const nlohmann::json json{{"exp", loaded.name}, {"step", outcome.step}, {"eval", eval_json(outcome.eval)}};
    fmt::print("{}\n", json.dump());
  }
  return kDone;
}

}  // namespace pax::cli
