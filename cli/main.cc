// paxml: parses the command line and calls commands.h.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <functional>

#include "cli/invocation.h"
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

/// Pax's `--fdl_config NAME` is `--exp NAME`.
void name_in_fdl_config(ExperimentRequest& request) {
  if (request.fiddle.empty() || std::filesystem::exists(request.fiddle)) return;
  if (request.fiddle.extension() == ".json" || !request.name.empty()) return;
  request.name = request.fiddle.string();
  request.fiddle.clear();
}

/// Everything that flags write into.
struct Parsed : Invocation {
  std::string html, search;
  TraceOptions trace;
};

void add_run_commands(CLI::App& app, Parsed& p) {
  CLI::App* train = app.add_subcommand("train", "Train, or continue a run");
  add_experiment_flags(train, p);
  train->add_option("--job_log_dir", p.common.job_log_dir, "The run's directory")->required();
  train->callback([&p] { p.command = [&p] { return train_command(p.common); }; });
}

void add_look_commands(CLI::App& app, Parsed& p) {
  CLI::App* list = app.add_subcommand("list", "The experiments there are");
  list->add_option("search", p.search, "Only names that contain this");
  list->add_flag("--json", p.common.json, "As JSON");
  list->callback([&p] { p.command = [&p] { return list_command(p.search, p.common.json); }; });

  CLI::App* describe = app.add_subcommand("describe", "Layers: parameters, memory on each device, FLOPs of a step");
  add_experiment_flags(describe, p);
  describe->add_option("name", p.common.experiment.name, "In place of --exp");
  describe->add_option("--html", p.html, "Write a page with the tree to this file");
  describe->callback([&p] { p.command = [&p] { return describe_command(p.common, p.html); }; });

  CLI::App* trace = app.add_subcommand("trace", "Build the training program and say how long each part took");
  add_experiment_flags(trace, p);
  trace->add_option("--out", p.trace.out, "Write the program (StableHLO text) to this file");
  trace->add_flag("--print", p.trace.print, "Print the program");
  trace->callback([&p] { p.command = [&p] { return trace_command(p.common, p.trace); }; });
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
  add_new_command(app, parsed);
  add_checkpoint_commands(app, parsed);
  add_huggingface_commands(app, parsed);
  add_text_commands(app, parsed);
  add_plan_command(app, parsed);
  add_data_commands(app, parsed);
  std::ranges::reverse(args);
  try {
    app.parse(args);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUserMistake;
  }
  if (!parsed.platform.empty()) {
    parsed.common.experiment.overrides.push_back("platform.name=" + parsed.platform);
  }
  name_in_fdl_config(parsed.common.experiment);
  return parsed.command();
}

}  // namespace

void add_experiment_flags(CLI::App* app, Invocation& invocation) {
  app->add_option("--exp", invocation.common.experiment.name, "Experiment, such as lm.text.ByteLmSmall");
  app->add_option("--config", invocation.common.experiment.file, "YAML file in place of --exp");
  app->add_option("--fdl_config", invocation.common.experiment.fiddle,
                  "Task that Fiddle wrote as JSON, or a name as --exp");
  app->add_option("--set", invocation.common.experiment.overrides, "path=value; may be given several times")
      ->take_all()
      ->expected(1);
  app->add_option("--load", invocation.common.experiment.libraries, "Shared library of your own classes")->expected(1);
  app->add_option("--platform", invocation.platform, "cpu, cuda, rocm, tpu, or the path of a PJRT plugin");
  app->add_flag("--json", invocation.common.json, "One JSON value on the last line of standard output");
  app->footer("--fdl.CONSTANT=value overrides a class constant of the experiment.");
}

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
