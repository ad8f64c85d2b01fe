#include "pax/experiments/load.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/config/paths.h"
#include "pax/config/yaml.h"

namespace pax {
namespace {

constexpr std::string_view kBase = "base";

/// Class constants are written in capitals; members of configs never are.
bool is_constant(std::string_view key) {
  return std::ranges::none_of(key, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// A file's parts: which experiment it begins from, constants, and members of the config.
struct FileParts {
  std::string base;
  config::Value constants = config::Value::map();
  config::Value members = config::Value::map();
};

FileParts divide(const config::Value& file, const std::string& source) {
  if (!file.is_map()) fail<ConfigError>("{}: must be a mapping but is {}", source, config::describe(file));
  FileParts parts;
  for (size_t i = 0; i < file.keys.size(); ++i) {
    const std::string& key = file.keys[i];
    if (key == kBase) {
      parts.base = file.items[i].text;
    } else {
      (is_constant(key) ? parts.constants : parts.members).add(key, file.items[i]);
    }
  }
  return parts;
}

/// The experiment of that name with its constants set; the name becomes the full one.
Tpl<Experiment> find_preset(std::string& name, const config::Registry& registry) {
  const config::ConfigType& type = registry.find_for<Experiment>(name);
  name = type.name;
  return Tpl<Experiment>::from(config::AnyTpl(std::make_shared<config::Node>(config::Node{&type, type.make(), nullptr})));
}

}  // namespace

LoadedExperiment load_experiment(const ExperimentRequest& request, const config::Registry& registry) {
  if (request.name.empty() == request.file.empty()) {
    fail<ConfigError>("give an experiment: --exp NAME or --config FILE (`paxml list` shows the names)");
  }
  LoadedExperiment loaded{.name = request.name, .config = {}, .constants = {}};
  FileParts parts;
  config::Errors errors;
  if (!request.file.empty()) {
    errors.source = request.file.string();
    parts = divide(config::read_yaml(read_file(request.file), errors.source), errors.source);
    loaded.name = parts.base;
  }
  if (!loaded.name.empty()) {
    const Tpl<Experiment> preset = find_preset(loaded.name, registry);
    config::update(preset, parts.constants, registry, errors);
    errors.throw_if_any();
    config::apply_overrides(preset, request.constants, registry);
    loaded.config = preset.build()->config();
    loaded.constants = config::print(preset);
  } else if (!parts.constants.keys.empty() || !request.constants.empty()) {
    fail<ConfigError>("{}: class constants need an experiment to belong to; add `base: NAME`", errors.source);
  }
  config::update(loaded.config, parts.members, registry, errors);
  errors.throw_if_any();
  config::apply_overrides(loaded.config, request.overrides, registry);
  if (loaded.name.empty()) loaded.name = request.file.string();
  return loaded;
}

}  // namespace pax
