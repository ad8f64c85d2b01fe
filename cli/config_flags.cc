#include <CLI/CLI.hpp>
#include <memory>

#include "cli/invocation.h"

namespace pax::cli {
namespace {

void add_show(CLI::App* config, Invocation& invocation) {
  CLI::App* show = config->add_subcommand("show", "The whole config as YAML, which reads back equal");
  add_experiment_flags(show, invocation);
  const auto options = std::make_shared<ShowOptions>();
  show->add_flag("--only-changed", options->only_changed, "Leave out what equals the defaults");
  show->add_flag("--comments", options->comments, "What each member means");
  show->add_option("--path", options->path, "Only the part at this path");
  show->add_option("--find", options->find, "Only members whose name contains this");
  show->callback([&invocation, options] {
    invocation.command = [&invocation, options] { return config_show_command(invocation.common, *options); };
  });
}

void add_diff(CLI::App* config, Invocation& invocation) {
  CLI::App* diff = config->add_subcommand("diff", "Where two experiments (names or files) differ");
  const auto sides = std::make_shared<std::pair<std::string, std::string>>();
  diff->add_option("left", sides->first, "Experiment, YAML file, or Fiddle's JSON")->required();
  diff->add_option("right", sides->second, "Experiment, YAML file, or Fiddle's JSON")->required();
  diff->callback([&invocation, sides] {
    invocation.command = [sides] { return config_diff_command(sides->first, sides->second); };
  });
}

void add_convert(CLI::App* config, Invocation& invocation) {
  CLI::App* convert = config->add_subcommand("convert", "From and to configs of other programs");
  add_experiment_flags(convert, invocation);
  const auto options = std::make_shared<ConvertOptions>();
  convert->add_option("--from", options->from, "maxtext: FILES are its config files, key=value its arguments");
  convert->add_option("--to", options->to,
                      "fiddle or maxtext, in place of YAML for this program; table: what becomes of each MaxText key");
  convert->add_option("--out", options->out, "Write to this file");
  convert->add_option("files", options->files, "base.yml[,model.yml] and key=value …");
  convert->callback([&invocation, options] {
    invocation.command = [&invocation, options] { return config_convert_command(invocation.common, *options); };
  });
}

}  // namespace

void add_config_commands(CLI::App& app, Invocation& invocation) {
  CLI::App* config = app.add_subcommand("config", "Show, check and convert configs")->require_subcommand(1);
  add_show(config, invocation);
  CLI::App* validate = config->add_subcommand("validate", "Report every mistake, without building anything");
  add_experiment_flags(validate, invocation);
  validate->callback(
      [&invocation] { invocation.command = [&invocation] { return config_validate_command(invocation.common); }; });
  add_diff(config, invocation);
  CLI::App* schema = config->add_subcommand("schema", "JSON Schema of config files, for editors");
  schema->callback([&invocation] { invocation.command = [] { return config_schema_command(); }; });
  add_convert(config, invocation);
  CLI::App* graph = config->add_subcommand("graph", "The config's templates as a Graphviz graph");
  add_experiment_flags(graph, invocation);
  graph->callback(
      [&invocation] { invocation.command = [&invocation] { return config_graph_command(invocation.common); }; });
}

}  // namespace pax::cli
