#include "pax/trainer/experiment.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/config/check.h"
#include "pax/trainer/mesh.h"

namespace pax {
namespace {

/// Rows of a batch must divide over the mesh axes that split them, or be fewer than the devices along them (fractional
/// batches a device: each device then has all rows at hand).
void check_batch_and_mesh(const ExperimentConfig& config, const Mesh& mesh, config::Errors& errors) {
  int64_t parts = 1;
  for (const std::string& axis : config.task.train.batch_split) {
    for (size_t i = 0; i < mesh.axes.size(); ++i) {
      if (mesh.axes[i] == axis) parts *= mesh.sizes[i];
    }
  }
  const auto check = [&](const Tpl<data::Input>& input, const std::string& path) {
    if (!input) return;
    const auto rows = input.get<std::optional<int64_t>>("batch_size");
    if (!rows || *rows % parts == 0 || *rows < parts) return;
    errors.add(path, fmt::format("{} rows do not divide over {} devices (mesh axes of task.train.batch_split); use a "
                                 "multiple of {}",
                                 *rows, parts, parts));
  };
  check(config.input, "input.batch_size");
  for (size_t i = 0; i < config.eval_inputs.size(); ++i) {
    check(config.eval_inputs[i], fmt::format("eval_inputs[{}].batch_size", i));
  }
}

void check_devices(const ExperimentConfig& config, const Mesh& mesh, config::Errors& errors) {
  const int64_t given = config.platform.cpu_device_count;
  if (config.platform.name != "cpu" || given == 0 || given == mesh.num_devices()) return;
  errors.add("platform.cpu_device_count",
             fmt::format("{} devices but the mesh has {}; set it to {}, or to 0 to follow the mesh", given,
                         mesh.num_devices(), mesh.num_devices()));
}

void check_names(const ExperimentConfig& config, config::Errors& errors) {
  std::vector<std::string> names;
  for (size_t i = 0; i < config.eval_inputs.size(); ++i) {
    if (!config.eval_inputs[i]) continue;
    const auto name = config.eval_inputs[i].get<std::string>("name");
    if (name.empty()) continue;
    if (std::ranges::find(names, name) != names.end()) {
      errors.add(fmt::format("eval_inputs[{}].name", i), fmt::format("\"{}\" is taken by another eval input", name));
    }
    names.push_back(name);
  }
}

}  // namespace

void validate_experiment(const ExperimentConfig& config) {
  config::Errors errors;
  validate_experiment(config, errors);
  errors.throw_if_any();
}

void validate_experiment(const ExperimentConfig& config, config::Errors& errors) {
  config::validate(config, errors);
  if (!config.input) errors.add("input", "required; set what the model trains on");
  check_names(config, errors);
  if (config.task.model) {
    try {
      const Mesh mesh = experiment_mesh(config);
      check_batch_and_mesh(config, mesh, errors);
      check_devices(config, mesh, errors);
    } catch (const ConfigError& error) {
      errors.add("", error.what());
    }
  }
}

}  // namespace pax
