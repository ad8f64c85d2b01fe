#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pax/config/registry.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// What a user asks for: an experiment by name or a YAML file, and what to change in it.
struct ExperimentRequest {
  std::string name;                    ///< `lm.text.ByteLmSmall` or an unambiguous end of it
  std::filesystem::path file;          ///< instead of the name
  std::vector<std::string> constants;  ///< `NUM_LAYERS=2`
  std::vector<std::string> overrides;  ///< `task.train.num_train_steps=10`, applied last
};

struct LoadedExperiment {
  std::string name;
  ExperimentConfig config;
  std::string constants;  ///< the class constants as YAML; empty for a file that holds a whole config
};

/// Reads, derives and overrides; nothing is built. A file is a mapping: `base: NAME` begins from an experiment, names in
/// capitals set its class constants, all else changes the config that follows from them; without `base` the file is the
/// whole config. Throws one ConfigError with every mistake.
LoadedExperiment load_experiment(const ExperimentRequest& request, const config::Registry& registry);

}  // namespace pax
