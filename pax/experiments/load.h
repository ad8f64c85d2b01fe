#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pax/config/registry.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// What a user asks for: an experiment by name, a YAML file, or a task that Fiddle wrote, and what to change in it.
struct ExperimentRequest {
  std::string name;                    ///< `lm.text.ByteLmSmall` or an unambiguous end of it
  std::filesystem::path file;          ///< instead of the name
  std::filesystem::path fiddle;        ///< JSON of a task; it takes the place of the experiment's, if there is one
  std::vector<std::string> constants;  ///< `NUM_LAYERS=2`
  std::vector<std::string> overrides;  ///< `task.train.num_train_steps=10`, applied last
  std::vector<std::filesystem::path> libraries;  ///< of the user's own classes: see make_registry
};

struct LoadedExperiment {
  std::string name;
  ExperimentConfig config;
  std::string constants;  ///< the class constants as YAML; empty for a file that holds a whole config
};

/// Reads, derives and overrides; nothing is built. A file is a mapping: `include: [FILE, …]` takes those files first,
/// `base: NAME` begins from an experiment, names in capitals set its class constants, all else changes the config that
/// follows from them; without `base` the file is the whole config. Throws one ConfigError with every mistake.
LoadedExperiment load_experiment(const ExperimentRequest& request, const config::Registry& registry);

/// As above; mistakes go into `errors`, and as much as can be is loaded all the same. Throws ConfigError when that is
/// nothing: no such experiment, no such file, bad YAML.
LoadedExperiment load_experiment(const ExperimentRequest& request, const config::Registry& registry,
                                 config::Errors& errors);

}  // namespace pax
