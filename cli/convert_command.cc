#include <fmt/core.h>

#include "cli/commands.h"
#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/config/yaml.h"
#include "pax/experiments/registry.h"
#include "pax/interop/fiddle/fiddle.h"
#include "pax/interop/maxtext/maxtext.h"

namespace pax::cli {
namespace {

void give(const std::string& text, const std::filesystem::path& out) {
  if (out.empty()) {
    fmt::print("{}\n", text);
  } else {
    write_file_atomically(out, text);
  }
}

/// "base.yml,model.yml" and "key=value" in any order.
void divide(const std::vector<std::string>& words, std::vector<std::filesystem::path>& files,
            std::vector<std::string>& arguments) {
  for (const std::string& word : words) {
    if (word.find('=') != std::string::npos) {
      arguments.push_back(word);
      continue;
    }
    for (const std::string& file : split(word, ',')) files.emplace_back(file);
  }
}

/// YAML on standard output (or --out), the report of keys on standard error.
int convert_from_maxtext(const Common& common, const ConvertOptions& options) {
  if (options.to == "table") {
    give(maxtext_key_table(), options.out);
    return kDone;
  }
  std::vector<std::filesystem::path> files;
  std::vector<std::string> arguments;
  divide(options.files, files, arguments);
  const MaxTextConversion conversion = from_maxtext(files, arguments);
  validate_experiment(conversion.config);
  for (const MaxTextLine& line : conversion.report) {
    fmt::print(stderr, "{} = {}: {}{}{}{}\n", line.key, line.value, line.verdict, line.field.empty() ? "" : " -> ",
               line.field, line.note.empty() ? "" : "  # " + line.note);
  }
  if (options.to == "fiddle") {
    give(task_to_fiddle(conversion.config.task), options.out);
    return kDone;
  }
  give(common.json ? config::to_json(config::to_value(conversion.config)) : config::print(conversion.config),
       options.out);
  return kDone;
}

}  // namespace

int config_convert_command(const Common& common, const ConvertOptions& options) {
  if (options.from == "maxtext") return convert_from_maxtext(common, options);
  if (!options.from.empty())
    fail<ConfigError>("--from {}: use maxtext; a task of Fiddle is --fdl_config FILE", options.from);
  const LoadedExperiment loaded = load_valid(common);
  if (options.to == "fiddle") {
    give(task_to_fiddle(loaded.config.task), options.out);
  } else if (options.to == "maxtext") {
    give(to_maxtext(loaded.config), options.out);
  } else if (options.to.empty() || options.to == "yaml") {
    give(config::print(loaded.config), options.out);
  } else {
    fail<ConfigError>("--to {}: use fiddle, maxtext or yaml", options.to);
  }
  return kDone;
}

}  // namespace pax::cli
