// paxml: parses the command line and calls commands.h.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <functional>

#include "cli/commands.h"
#include "pax/base/error.h"
#include "pax/base/log.h"

namespace pax::cli {
namespace {

/// Takes `--fdl.NAME=value` (or `--fdl.NAME value`) out of the arguments and returns them as assignments.
std::vector<std::string> take_constants(std::vector<std::string>& args) {
  std::vector<std::string> constants;
  std::vector<std::string> rest;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with("--fdl.")) {
      rest.push_back(args[i]);
      continue;
    }
    std::string constant = args[i].substr(6);
    if (constant.find('=') == std::string::npos && i + 1 < args.size()) constant += "=" + args[++i];
    constants.push_back(constant);
  }
  args = std::move(rest);
  return constants;
}

/// Pax's spelling: `--exp X --job_log_dir D --mode eval` without a verb. The mode becomes the verb.
void mode_to_verb(std::vector<std::string>& args) {
  if (args.empty() || !args[0].starts_with("--") || args[0] == "--help" || args[0] == "--version") return;
  std::string verb = "train";
  for (size_t i = 0; i < args.size(); ++i) {
    size_t count = 0;
    if (args[i].starts_with("--mode=")) {
      verb = args[i].substr(7);
      count = 1;
    } else if (args[i] == "--mode" && i + 1 < args.size()) {
      verb = args[i + 1];
      count = 2;
    }
    if (count == 0) continue;
    args.erase(args.begin() + static_cast<int64_t>(i), args.begin() + static_cast<int64_t>(i + count));
    break;
  }
  args.insert(args.begin(), verb);
}

/// Everything that flags write into, and the command that was chosen.
struct Parsed {
  Common common;
  std::string platform;
  std::string search, left, right, directory;
  std::optional<int64_t> step;
  TraceOptions trace;
  ShowOptions show;
  std::function<int()> command;
};

void add_experiment_flags(CLI::App* app, Parsed& parsed) {
  app->add_option("--exp", parsed.common.experiment.name, "Experiment, such as lm.text.ByteLmSmall");
  app->add_option("--config", parsed.common.experiment.file, "YAML file in place of --exp");
  app->add_option("--set", parsed.common.experiment.overrides, "path=value; may be given several times")
      ->take_all()
      ->expected(1);
  app->add_option("--platform", parsed.platform, "cpu, cuda, rocm, tpu, or the path of a PJRT plugin");
  app->add_flag("--json", parsed.common.json, "One JSON value on the last line of standard output");
  app->footer("--fdl.CONSTANT=value overrides a class constant of the experiment.");
}

void add_run_commands(CLI::App& app, Parsed& p) {
  CLI::App* train = app.add_subcommand("train", "Train, or continue a run");
  add_experiment_flags(train, p);
  train->add_option("--job_log_dir", p.common.job_log_dir, "The run's directory")->required();
  train->callback([&p] { p.command = [&p] { return train_command(p.common); }; });

  CLI::App* eval = app.add_subcommand("eval", "Evaluate a run's newest checkpoint on its eval inputs");
  add_experiment_flags(eval, p);
  eval->add_option("--job_log_dir", p.common.job_log_dir, "The run's directory")->required();
  eval->add_option("--step", p.step, "Of this step instead of the newest");
  eval->callback([&p] { p.command = [&p] { return eval_command(p.common, p.step); }; });
}

void add_look_commands(CLI::App& app, Parsed& p) {
  CLI::App* list = app.add_subcommand("list", "The experiments there are");
  list->add_option("search", p.search, "Only names that contain this");
  list->add_flag("--json", p.common.json, "As JSON");
  list->callback([&p] { p.command = [&p] { return list_command(p.search, p.common.json); }; });

  CLI::App* describe = app.add_subcommand("describe", "Variables, their sizes, and FLOPs of a step");
  add_experiment_flags(describe, p);
  describe->callback([&p] { p.command = [&p] { return describe_command(p.common); }; });

  CLI::App* trace = app.add_subcommand("trace", "Build the training program and say how long each part took");
  add_experiment_flags(trace, p);
  trace->add_option("--out", p.trace.out, "Write the program (StableHLO text) to this file");
  trace->add_flag("--print", p.trace.print, "Print the program");
  trace->callback([&p] { p.command = [&p] { return trace_command(p.common, p.trace); }; });
}

void add_config_commands(CLI::App& app, Parsed& p) {
  CLI::App* config = app.add_subcommand("config", "Show and check configs")->require_subcommand(1);
  CLI::App* show = config->add_subcommand("show", "The whole config as YAML, which reads back equal");
  add_experiment_flags(show, p);
  show->add_flag("--only-changed", p.show.only_changed, "Leave out what equals the defaults");
  show->add_flag("--comments", p.show.comments, "What each member means");
  show->add_option("--path", p.show.path, "Only the part at this path");
  show->add_option("--find", p.show.find, "Only members whose name contains this");
  show->callback([&p] { p.command = [&p] { return config_show_command(p.common, p.show); }; });
  CLI::App* validate = config->add_subcommand("validate", "Report every mistake, without building anything");
  add_experiment_flags(validate, p);
  validate->callback([&p] { p.command = [&p] { return config_validate_command(p.common); }; });
  CLI::App* diff = config->add_subcommand("diff", "Where two experiments (names or files) differ");
  diff->add_option("left", p.left, "Experiment or YAML file")->required();
  diff->add_option("right", p.right, "Experiment or YAML file")->required();
  diff->callback([&p] { p.command = [&p] { return config_diff_command(p.left, p.right); }; });
  CLI::App* schema = config->add_subcommand("schema", "JSON Schema of config files, for editors");
  schema->callback([&p] { p.command = [] { return config_schema_command(); }; });
}

void add_checkpoint_commands(CLI::App& app, Parsed& p) {
  CLI::App* checkpoint = app.add_subcommand("checkpoint", "Look at checkpoints")->require_subcommand(1);
  const auto add = [&](const char* name, const char* doc, std::function<int()> command) {
    CLI::App* sub = checkpoint->add_subcommand(name, doc);
    sub->add_option("directory", p.directory, "A run's directory, or a checkpoint")->required();
    sub->add_flag("--json", p.common.json, "As JSON");
    if (std::string_view(name) != "list") sub->add_option("--step", p.step, "Of this step instead of the newest");
    sub->callback([&p, command] { p.command = command; });
  };
  add("list", "Steps, sizes and states", [&p] { return checkpoint_list_command(p.directory, p.common.json); });
  add("show", "Name, type and shape of every array",
      [&p] { return checkpoint_show_command(p.directory, p.step, p.common.json); });
  add("hash", "One digest of step, weights and optimizer state",
      [&p] { return checkpoint_hash_command(p.directory, p.step, p.common.json); });
}

int run(std::vector<std::string> args) {
  Parsed parsed;
  mode_to_verb(args);
  parsed.common.experiment.constants = take_constants(args);
  CLI::App app("Configure, train and evaluate machine-learning experiments.", "paxml");
  app.set_version_flag("--version", PAX_VERSION);
  app.require_subcommand(1);
  add_run_commands(app, parsed);
  add_look_commands(app, parsed);
  add_config_commands(app, parsed);
  add_checkpoint_commands(app, parsed);
  std::ranges::reverse(args);
  try {
    app.parse(args);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUserMistake;
  }
  if (!parsed.platform.empty()) {
    parsed.common.experiment.overrides.push_back("platform.name=" + parsed.platform);
  }
  return parsed.command();
}

}  // namespace
}  // namespace pax::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return pax::cli::run({argv + 1, argv + argc});
  } catch (const pax::ConfigError& error) {
    pax::log_line(pax::LogLevel::kError, error.what());
    return pax::cli::kUserMistake;
  } catch (const pax::ShapeError& error) {
    pax::log_line(pax::LogLevel::kError, error.what());
    return pax::cli::kUserMistake;
  } catch (const std::exception& error) {
    pax::log_line(pax::LogLevel::kError, error.what());
    return pax::cli::kFailed;
  }
}
