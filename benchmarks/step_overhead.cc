// The share of a training step that is spent outside of the plugin: input, checks, transfers, the loop with its hooks
// and writers. They are timed around a program that takes and returns what the step does and computes nothing, so that
// the step's own noise, far larger than they are, is not in the figure; then divided by the time of the real step. One
// JSON line. Usage: step_overhead [EXPERIMENT [path=value…]]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "pax/base/files.h"
#include "pax/experiments/load.h"
#include "pax/experiments/registry.h"
#include "pax/ops/constant.h"
#include "pax/trainer/hooks/summary_hook.h"
#include "pax/trainer/inputs.h"
#include "pax/trainer/loop.h"
#include "pax/trainer/session.h"

namespace pax {
namespace {

constexpr int kRounds = 5;
constexpr int kSteps = 200;     // of the program that computes nothing
constexpr int kRealSteps = 12;  // of the real one

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Seconds a step of `run`, which does `steps` of them.
template <class Run>
double seconds_a_step(int steps, Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / steps;
}

/// A program with the arguments and results of `real`: the state comes back as it went in, all else is zero.
TracedProgram without_work(const TracedProgram& real) {
  TracedProgram program;
  Graph& graph = *program.graph;
  std::map<std::string_view, Tensor> arguments;
  for (const Argument& argument : real.graph->arguments()) {
    arguments[argument.name] = graph.argument(argument.name, real.graph->value(argument.value).type, argument.sharding);
  }
  for (const Output& output : real.graph->outputs()) {
    const auto it = arguments.find(output.name);
    const TensorType& type = real.graph->value(output.value).type;
    graph.output(output.name, it != arguments.end() ? it->second : full(graph, type, 0), output.sharding);
  }
  program.state = real.state;
  return program;
}

int measure(const ExperimentRequest& request) {
  const LoadedExperiment loaded = load_experiment(request, make_registry());
  Session session(loaded.config);
  const auto input = build_train_input(loaded.config);
  const TracedProgram traced = trace_train_step(loaded.config.task, input->spec());
  const auto step = session.compile(traced, "train_step");
  const auto idle = session.compile(without_work(traced), "idle_step");
  DeviceTree state = session.compile(trace_init(loaded.config.task), "init")->run({});
  data::Prefetcher batches(input);
  const HostTree batch = *batches.next();
  const TempDirectory folder;
  ProgressDisplay display;
  std::vector<std::unique_ptr<Hook>> hooks;
  hooks.push_back(std::make_unique<SummaryHook>(SummaryOptions{.job_log_dir = folder.path(),
                                                               .num_steps = 1 << 30,
                                                               .interval = 1,
                                                               .limits = {},
                                                               .compile_count = [] { return 0; }},
                                                display));
  const auto bare = [&](const Program& program, int steps) {
    return seconds_a_step(steps, [&] {
      const DeviceTree on_device = session.batch_to_device(batch);
      for (int i = 0; i < steps; ++i) to_host(program.step(state, on_device));
    });
  };
  std::vector<double> real, idle_bare, idle_looped;
  int64_t done = 0;
  for (int round = 0; round < kRounds; ++round) {
    real.push_back(bare(*step, kRealSteps));
    idle_bare.push_back(bare(*idle, kSteps));
    idle_looped.push_back(seconds_a_step(kSteps, [&] {
      run_loop(
          {.step = *idle,
           .state = state,
           .batches = batches,
           .hooks = hooks,
           .stop_requested = [] { return false; },
           .to_device = [&](const HostTree& host) { return session.batch_to_device(host); },
           .check_batch = [vocab = vocabulary_size(loaded.config)](
                              const HostTree& host, const data::TokenCount&) { data::require_ids_below(host, vocab); },
           .first_step = done,
           .num_steps = done + kSteps});
      done += kSteps;
    }));
  }
  const double outside = median(idle_looped) - median(idle_bare);
  fmt::print(
      "{{\"benchmark\": \"step_overhead\", \"exp\": \"{}\", \"real_step_s\": {:.6f}, \"outside_s\": {:.6f}, "
      "\"overhead\": {:.5f}, \"limit\": 0.02}}\n",
      loaded.name, median(real), outside, outside / median(real));
  return 0;
}

}  // namespace
}  // namespace pax

int main(int argc, char** argv) {
  pax::ExperimentRequest request{.name = argc > 1 ? argv[1] : "lm.text.ByteLmSmall"};
  for (int i = 2; i < argc; ++i) request.overrides.emplace_back(argv[i]);
  return pax::measure(request);
}
