#include "pax/experiments/load.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/config/check.h"
#include "pax/config/paths.h"
#include "pax/config/yaml.h"
#include "pax/interop/fiddle/fiddle.h"

namespace pax {
namespace {

using Path = std::filesystem::path;

constexpr std::string_view kBase = "base", kInclude = "include";
constexpr size_t kMaxIncludes = 100;

/// Class constants are written in capitals; members of configs never are.
bool is_constant(std::string_view key) {
  return std::ranges::none_of(key, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// A file's parts: which experiment it begins from, constants, and members of the config.
struct FileParts {
  std::string source;
  std::string base;
  config::Value constants = config::Value::map();
  config::Value members = config::Value::map();
};

std::string require_text(const config::Value& value, std::string_view key, const std::string& source) {
  if (value.kind == config::Value::Kind::kString) return value.text;
  fail<ConfigError>("{}:{}: {} must be text but is {}", source, value.line, key, config::describe(value));
}

/// The file, after the files it includes, each once where it is named.
void read_parts(const Path& file, std::vector<Path>& open, std::vector<FileParts>& out) {
  const Path whole = std::filesystem::weakly_canonical(file);
  if (std::ranges::find(open, whole) != open.end()) {
    fail<ConfigError>("{}: includes itself, by way of {}", file.string(), open.back().string());
  }
  if (out.size() + open.size() >= kMaxIncludes)
    fail<ConfigError>("{}: more than {} includes", file.string(), kMaxIncludes);
  FileParts parts{.source = file.string(), .base = {}};
  const config::Value value = config::read_yaml(read_file(file), parts.source);
  if (!value.is_map()) fail<ConfigError>("{}: must be a mapping but is {}", parts.source, config::describe(value));
  open.push_back(whole);
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const std::string& key = value.keys[i];
    const config::Value& item = value.items[i];
    if (key == kBase) {
      parts.base = require_text(item, key, parts.source);
    } else if (key == kInclude) {
      const std::vector<config::Value> names = item.is_list() ? item.items : std::vector{item};
      for (const config::Value& name : names) {
        read_parts(file.parent_path() / require_text(name, key, parts.source), open, out);
      }
    } else {
      (is_constant(key) ? parts.constants : parts.members).add(key, item);
    }
  }
  open.pop_back();
  out.push_back(std::move(parts));
}

/// The experiment of that name with its constants set; the name becomes the full one.
Tpl<Experiment> find_preset(std::string& name, const config::Registry& registry) {
  const config::ConfigType& type = registry.find_for<Experiment>(name);
  name = type.name;
  return Tpl<Experiment>::from(
      config::AnyTpl(std::make_shared<config::Node>(config::Node{&type, type.make(), nullptr})));
}

/// Sets constants one by one; one with a mistake stays what it was, so that the rest can still be derived.
void set_constants(Tpl<Experiment>& preset, const std::vector<FileParts>& files, const ExperimentRequest& request,
                   const config::Registry& registry, config::Errors& errors) {
  const auto try_set = [&](auto&& set) {
    Tpl<Experiment> trial = preset.clone();
    const size_t before = errors.messages().size();
    set(trial);
    if (errors.messages().size() == before) preset = trial;
  };
  for (const FileParts& parts : files) {
    errors.source = parts.source;
    for (size_t i = 0; i < parts.constants.keys.size(); ++i) {
      config::Value one = config::Value::map();
      one.add(parts.constants.keys[i], parts.constants.items[i]);
      try_set([&](const Tpl<Experiment>& trial) { config::update(trial, one, registry, errors); });
    }
  }
  for (const std::string& constant : request.constants) {
    try_set([&](const Tpl<Experiment>& trial) {
      config::apply_overrides(trial, std::span(&constant, 1), registry, errors);
    });
  }
  config::validate(preset, errors);
}

}  // namespace

LoadedExperiment load_experiment(const ExperimentRequest& request, const config::Registry& registry,
                                 config::Errors& errors) {
  if (!request.name.empty() && !request.file.empty()) {
    fail<ConfigError>("give --exp NAME or --config FILE, not both; a file says `base: {}`", request.name);
  }
  if (request.name.empty() && request.file.empty() && request.fiddle.empty()) {
    fail<ConfigError>("give an experiment: --exp NAME or --config FILE (`paxml list` shows the names)");
  }
  LoadedExperiment loaded{.name = request.name, .config = {}, .constants = {}};
  std::vector<FileParts> files;
  if (!request.file.empty()) {
    std::vector<Path> open;
    read_parts(request.file, open, files);
    for (const FileParts& parts : files) {
      if (!parts.base.empty()) loaded.name = parts.base;
    }
  }
  if (!loaded.name.empty()) {
    Tpl<Experiment> preset = find_preset(loaded.name, registry);
    set_constants(preset, files, request, registry, errors);
    loaded.config = preset.build()->config();
    loaded.constants = config::print(preset);
  } else if (!request.constants.empty() ||
             std::ranges::any_of(files, [](const FileParts& parts) { return !parts.constants.keys.empty(); })) {
    fail<ConfigError>("{}: class constants need an experiment to belong to; add `base: NAME`", request.file.string());
  }
  if (!request.fiddle.empty()) {
    loaded.config.task = task_from_fiddle(read_file(request.fiddle), request.fiddle.string(), registry);
  }
  for (const FileParts& parts : files) {
    errors.source = parts.source;
    config::update(loaded.config, parts.members, registry, errors);
  }
  config::apply_overrides(loaded.config, request.overrides, registry, errors);
  if (loaded.name.empty()) loaded.name = (request.file.empty() ? request.fiddle : request.file).string();
  return loaded;
}

LoadedExperiment load_experiment(const ExperimentRequest& request, const config::Registry& registry) {
  config::Errors errors;
  LoadedExperiment loaded = load_experiment(request, registry, errors);
  errors.throw_if_any();
  return loaded;
}

}  // namespace pax
