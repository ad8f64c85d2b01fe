// Training steps of one experiment with Pax's CPU kernels and without, in turns: step times, their ratio, and how far
// the losses are apart. One JSON line. Usage: kernel_steps EXPERIMENT STEPS [NAME=constant…] [path=value…]

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>

#include "pax/experiments/load.h"
#include "pax/experiments/registry.h"
#include "pax/trainer/inputs.h"
#include "pax/trainer/session.h"

namespace pax {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// The experiment's training with or without kernels.
class Trainer {
 public:
  Trainer(ExperimentConfig config, bool kernels) : session_(with_kernels(std::move(config), kernels)) {
    const auto input = build_train_input(session_.config());
    step_ = session_.compile(trace_train_step(session_.config().task, input->spec()), "train_step");
    state_ = session_.compile(trace_init(session_.config().task), "init")->run({});
  }

  /// Seconds of one step; its loss joins `losses`.
  double step(const HostTree& batch) {
    const DeviceTree on_device = session_.batch_to_device(batch);
    const auto start = std::chrono::steady_clock::now();
    const HostTree results = to_host(step_->step(state_, on_device));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const auto& [name, value] : results) {
      if (name.ends_with("total_loss") && value.shape().rank() == 0) losses.push_back(value.item());
    }
    return seconds;
  }

  std::vector<double> losses;

 private:
  static ExperimentConfig with_kernels(ExperimentConfig config, bool kernels) {
    config.platform.kernels = kernels;
    return config;
  }

  Session session_;
  std::shared_ptr<const Program> step_;
  DeviceTree state_;
};

int measure(const ExperimentRequest& request, int steps) {
  const LoadedExperiment loaded = load_experiment(request, make_registry());
  const auto input = build_train_input(loaded.config);
  Trainer plain(loaded.config, false), ours(loaded.config, true);
  std::vector<double> plain_s, ours_s;
  for (int i = 0; i < steps; ++i) {
    const std::optional<HostTree> batch = input->next();
    if (!batch) break;
    plain_s.push_back(plain.step(*batch));
    ours_s.push_back(ours.step(*batch));
  }
  double apart = 0;
  for (size_t i = 0; i < std::min(plain.losses.size(), ours.losses.size()); ++i) {
    apart = std::max(apart, std::abs(ours.losses[i] / plain.losses[i] - 1));
  }
  fmt::print(
      "{{\"benchmark\": \"kernel_steps\", \"exp\": \"{}\", \"steps\": {}, \"plain_step_s\": {:.4f}, "
      "\"kernel_step_s\": {:.4f}, \"speed_ratio\": {:.3f}, \"losses\": {}, \"losses_apart\": {:.3e}}}\n",
      loaded.name, plain_s.size(), median(plain_s), median(ours_s), median(plain_s) / median(ours_s),
      ours.losses.size(), apart);
  return 0;
}

}  // namespace
}  // namespace pax

int main(int argc, char** argv) {
  pax::ExperimentRequest request{.name = argc > 1 ? argv[1] : "lm.text.ByteLmSmall"};
  const int steps = argc > 2 ? std::atoi(argv[2]) : 10;
  for (int i = 3; i < argc; ++i) {
    (std::isupper(static_cast<unsigned char>(argv[i][0])) ? request.constants : request.overrides)
        .emplace_back(argv[i]);
  }
  return pax::measure(request, steps);
}
