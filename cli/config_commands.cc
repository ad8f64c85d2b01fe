#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "pax/config/compare.h"
#include "pax/config/schema.h"
#include "pax/config/yaml.h"
#include "pax/experiments/registry.h"

namespace pax::cli {
namespace {

ExperimentConfig load_named(const std::string& name_or_file, const config::Registry& registry) {
  const bool file =
      name_or_file.ends_with(".yaml") || name_or_file.ends_with(".yml") || name_or_file.ends_with(".json");
  ExperimentRequest request;
  if (file) request.file = name_or_file;
  if (!file) request.name = name_or_file;
  return load_experiment(request, registry).config;
}

}  // namespace

int config_show_command(const Common& common, const ShowOptions& options) {
  const LoadedExperiment loaded = load_experiment(common.experiment, make_registry());
  if (!options.find.empty()) {
    for (const config::Found& found : config::find(loaded.config, options.find)) {
      fmt::print("{} = {}{}{}\n", found.path, found.value, found.doc.empty() ? "" : "  # ", found.doc);
    }
    return kDone;
  }
  const config::PrintOptions print{.only_changed = options.only_changed, .comments = options.comments};
  const config::Value value = options.path.empty() ? config::to_value(loaded.config, print)
                                                   : config::value_at(loaded.config, options.path, print);
  fmt::print("{}\n", common.json ? config::to_json(value) : config::to_yaml(value));
  return kDone;
}

int config_validate_command(const Common& common) {
  const LoadedExperiment loaded = load_valid(common);
  fmt::print("{}: no mistakes found\n", loaded.name);
  if (common.json) fmt::print("{}\n", nlohmann::json{{"exp", loaded.name}, {"valid", true}}.dump());
  return kDone;
}

int config_diff_command(const std::string& left, const std::string& right) {
  const config::Registry registry = make_registry();
  for (const config::Difference& difference : config::diff(load_named(left, registry), load_named(right, registry))) {
    fmt::print("{}: {} -> {}\n", difference.path, difference.left, difference.right);
  }
  return kDone;
}

int config_schema_command() {
  fmt::print("{}\n", config::to_json(config::schema(config::type_of<ExperimentConfig>(), make_registry())));
  return kDone;
}

}  // namespace pax::cli
