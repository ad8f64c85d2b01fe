#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "pax/base/error.h"
#include "pax/config/access.h"
#include "pax/config/compare.h"
#include "pax/config/schema.h"
#include "pax/config/yaml.h"
#include "pax/experiments/registry.h"
#include "pax/plan/plan.h"
#include "pax/task/steps.h"

namespace pax::cli {
namespace {

ExperimentConfig load_named(const std::string& name_or_file, const config::Registry& registry) {
  ExperimentRequest request;
  if (name_or_file.ends_with(".json")) {
    request.fiddle = name_or_file;
  } else if (name_or_file.ends_with(".yaml") || name_or_file.ends_with(".yml")) {
    request.file = name_or_file;
  } else {
    request.name = name_or_file;
  }
  return load_experiment(request, registry).config;
}

/// An edge from node `from` to each template below `slot`, and what is below that; a node is described once.
void print_edges(const config::Slot& slot, int from, const std::string& path,
                 std::map<const config::Node*, int>& numbers) {
  if (slot.type->kind == config::FieldKind::kTpl) {
    const auto& tpl = *static_cast<const config::AnyTpl*>(slot.data);
    if (!tpl) return;
    const auto [at, is_new] = numbers.emplace(tpl.node().get(), static_cast<int>(numbers.size()) + 1);
    const int number = at->second;
    fmt::print("  n{} -> n{} [label=\"{}\"];\n", from, number, path);
    if (!is_new) return;
    fmt::print("  n{} [label=\"{}\"];\n", number, tpl.class_name());
    config::each_part(
        slot, [&](const std::string& suffix, const config::Slot& part) { print_edges(part, number, suffix, numbers); });
    return;
  }
  config::each_part(slot, [&](const std::string& suffix, const config::Slot& part) {
    print_edges(part, from, config::join_config_path(path, suffix), numbers);
  });
}

}  // namespace

int config_show_command(const Common& common, const ShowOptions& options) {
  const LoadedExperiment loaded = load_experiment(common.experiment, make_registry(common.experiment.libraries));
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
  config::Errors errors;
  const LoadedExperiment loaded = load_experiment(common.experiment, make_registry(common.experiment.libraries), errors);
  validate_experiment(loaded.config, errors);
  if (errors.empty()) {
    try {
      trace_train_step(loaded.config.task, training_batch_spec(loaded.config));
    } catch (const ConfigError& error) {
      errors.add("", error.what());
    } catch (const ShapeError& error) {
      errors.add("", error.what());
    }
  }
  if (common.json) {
    const nlohmann::json json{{"exp", loaded.name}, {"valid", errors.empty()}, {"mistakes", errors.messages()}};
    fmt::print("{}\n", json.dump());
  }
  errors.throw_if_any();
  if (!common.json) fmt::print("{}: no mistakes found\n", loaded.name);
  return kDone;
}

int config_diff_command(const std::string& left, const std::string& right) {
  const config::Registry registry = make_registry();
  for (const config::Difference& difference : config::diff(load_named(left, registry), load_named(right, registry))) {
    fmt::print("{}: {} -> {}\n", difference.path, difference.left, difference.right);
  }
  return kDone;
}

int config_graph_command(const Common& common) {
  const LoadedExperiment loaded = load_valid(common);
  fmt::print("digraph config {{\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
  std::map<const config::Node*, int> numbers;
  print_edges({&config::field_type<ExperimentConfig>(), const_cast<ExperimentConfig*>(&loaded.config), {}}, 0, "",
              numbers);
  fmt::print("  n0 [label=\"{}\"];\n}}\n", loaded.name);
  return kDone;
}

int config_schema_command() {
  fmt::print("{}\n", config::to_json(config::schema(config::type_of<ExperimentConfig>(), make_registry())));
  return kDone;
}

}  // namespace pax::cli
