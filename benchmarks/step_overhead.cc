// The share of a training step that is spent outside of the plugin: the loop with its hooks, input, checks and writers,
// against the bare program on one batch, in turns. One JSON line. Usage: step_overhead [EXPERIMENT [path=value…]]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "pax/base/files.h"
#include "pax/experiments/load.h"
#include "pax/experiments/registry.h"
#include "pax/trainer/hooks/summary_hook.h"
#include "pax/trainer/inputs.h"
#include "pax/trainer/loop.h"
#include "pax/trainer/session.h"

namespace pax {
namespace {

constexpr int kRounds = 3;
constexpr int kSteps = 12;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Seconds a step of `run`, which does kSteps of them.
template <class Run>
double seconds_a_step(Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kSteps;
}

int measure(const ExperimentRequest& request) {
  const LoadedExperiment loaded = load_experiment(request, make_registry());
  Session session(loaded.config);
  const auto input = build_train_input(loaded.config);
  const auto step = session.compile(trace_train_step(loaded.config.task, input->spec()), "train_step");
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
  std::vector<double> bare, looped;
  int64_t done = 0;
  for (int round = 0; round < kRounds; ++round) {
    bare.push_back(seconds_a_step([&] {
      for (int i = 0; i < kSteps; ++i) to_host(step->step(state, session.batch_to_device(batch)));
    }));
    looped.push_back(seconds_a_step([&] {
      run_loop(
          {.step = *step,
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
  const double overhead = median(looped) / median(bare) - 1;
  fmt::print(
      "{{\"benchmark\": \"step_overhead\", \"exp\": \"{}\", \"bare_step_s\": {:.6f}, \"loop_step_s\": {:.6f}, "
      "\"overhead\": {:.4f}, \"limit\": 0.02}}\n",
      loaded.name, median(bare), median(looped), overhead);
  return 0;
}

}  // namespace
}  // namespace pax

int main(int argc, char** argv) {
  pax::ExperimentRequest request{.name = argc > 1 ? argv[1] : "lm.text.ByteLmSmall"};
  for (int i = 2; i < argc; ++i) request.overrides.emplace_back(argv[i]);
  return pax::measure(request);
}
