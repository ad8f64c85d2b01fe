#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pax/config/config.h"
#include "pax/data/input.h"
#include "pax/runtime/platform.h"
#include "pax/task/single_task.h"

namespace pax {

/// Everything that a run is: task, data, devices. The whole tree that files and flags speak of; paths begin here
/// (`task.train.num_train_steps`, `input.path`, `platform.cpu_device_count`).
struct ExperimentConfig {
  static constexpr std::string_view kName = "pax.Experiment";
  SingleTask task;
  Tpl<data::Input> input;
  std::vector<Tpl<data::Input>> eval_inputs;
  /// Evaluate on the part of `input` that training leaves out, when `eval_inputs` is empty.
  bool eval_on_held_out = true;
  PlatformConfig platform;
  static void fields(auto& self, auto&& visit) {
    visit("task", self.task);
    visit("input", self.input, "What the model trains on.");
    visit("eval_inputs", self.eval_inputs, "What the model is evaluated on, each under its name.");
    visit("eval_on_held_out", self.eval_on_held_out,
          "With no eval_inputs: evaluate on what `input` holds back from training, if it does.");
    visit("platform", self.platform);
  }
};

/// A named experiment (paxml BaseExperiment): class constants that a user may override (`--fdl.NUM_LAYERS=2`), and the
/// config that follows from them. Its Config is a struct of the constants with `ExperimentConfig experiment() const`.
class Experiment {
 public:
  using Kind = Experiment;
  virtual ~Experiment() = default;
  virtual ExperimentConfig config() const = 0;
};

/// The Experiment of a struct of constants: `using Product = Preset<MyConstants>;`.
template <class Constants>
class Preset final : public Experiment {
 public:
  explicit Preset(const Constants& constants) : constants_(constants) {}
  ExperimentConfig config() const override { return constants_.experiment(); }

 private:
  const Constants constants_;
};

/// All mistakes of a config that can be found without building anything, in one ConfigError: members of every node,
/// and what does not fit together (mesh and devices, batch and mesh).
void validate_experiment(const ExperimentConfig& config);
/// As above; mistakes go into `errors`.
void validate_experiment(const ExperimentConfig& config, config::Errors& errors);

}  // namespace pax
