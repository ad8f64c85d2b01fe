#include "cli/eval_commands.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "pax/trainer/decode_run.h"
#include "pax/trainer/evaluate.h"
#include "pax/trainer/stop_signal.h"

namespace pax::cli {
namespace {

FollowOptions follow_of(const CheckpointFlags& flags, const ExperimentConfig& config) {
  FollowOptions follow = flags.follow;
  follow.last_step = static_cast<int64_t>(config.task.train.num_train_steps);
  return follow;
}

WhichWeights weights_of(const CheckpointFlags& flags) {
  return flags.ema ? WhichWeights::kAverage : WhichWeights::kAsConfigured;
}

int exit_code(bool stopped) { return stopped ? kPreempted : kDone; }

}  // namespace

nlohmann::json metrics_json(const Tree<Tree<WeightedScalar>>& metrics) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [data_set, means] : metrics) {
    for (const auto& [name, mean] : means) out[data_set][name] = {{"value", mean.value}, {"weight", mean.weight}};
  }
  return out;
}

void print_metrics(const Tree<Tree<WeightedScalar>>& metrics) {
  for (const auto& [data_set, means] : metrics) {
    for (const auto& [name, mean] : means) {
      fmt::print("{}: {} {:.4f} (weight {:.0f})\n", data_set, name, mean.value, mean.weight);
    }
  }
}

int eval_command(const Common& common, const CheckpointFlags& flags) {
  const LoadedExperiment loaded = load_valid(common);
  EvalRun run(loaded.config, {.job_log_dir = common.job_log_dir, .weights = weights_of(flags), .redo = flags.redo});
  const StopSignal stop;
  const auto stop_requested = [&] { return stop.requested(); };
  EvalOutcome last;
  follow_checkpoints(common.job_log_dir, follow_of(flags, loaded.config), stop_requested, [&](int64_t step) {
    last = run.evaluate(step, stop_requested);
    fmt::print("checkpoint of step {}{}\n", step, last.done_before > 0 ? " (evaluated before)" : "");
    print_metrics(last.eval);
    std::fflush(stdout);
  });
  if (common.json) {
    const nlohmann::json json{{"exp", loaded.name},
                              {"step", last.step},
                              {"eval", metrics_json(last.eval)},
                              {"done_before", last.done_before}};
    fmt::print("{}\n", json.dump());
  }
  return exit_code(last.stopped);
}

int decode_command(const Common& common, const DecodeFlags& flags) {
  const LoadedExperiment loaded = load_valid(common);
  DecodeRun run(loaded.config, {.job_log_dir = common.job_log_dir,
                                .weights = weights_of(flags),
                                .redo = flags.redo,
                                .prompt_tokens = flags.prompt_tokens,
                                .max_batches = flags.max_batches});
  const StopSignal stop;
  const auto stop_requested = [&] { return stop.requested(); };
  DecodeOutcome last;
  follow_checkpoints(common.job_log_dir, follow_of(flags, loaded.config), stop_requested, [&](int64_t step) {
    last = run.decode(step, stop_requested);
    fmt::print("checkpoint of step {}\n", step);
    print_metrics(last.metrics);
    for (const auto& [data_set, path] : last.files) {
      fmt::print("{}: {}{}\n", data_set, path.string(), last.metrics.contains(data_set) ? "" : " (decoded before)");
    }
    std::fflush(stdout);
  });
  if (common.json) {
    nlohmann::json files = nlohmann::json::object();
    for (const auto& [data_set, path] : last.files) files[data_set] = path.string();
    const nlohmann::json json{{"exp", loaded.name},
                              {"step", last.step},
                              {"metrics", metrics_json(last.metrics)},
                              {"files", files},
                              {"done_before", last.done_before}};
    fmt::print("{}\n", json.dump());
  }
  return exit_code(last.stopped);
}

}  // namespace pax::cli
