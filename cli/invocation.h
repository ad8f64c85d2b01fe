#pragma once

#include <functional>
#include <string>

#include "cli/commands.h"

namespace CLI {
class App;
}

namespace pax::cli {

/// What flags write into, and the command that was chosen.
struct Invocation {
  Common common;
  std::string platform;
  std::function<int()> command;
};

/// --exp, --config, --fdl_config, --set, --platform, --json.
void add_experiment_flags(CLI::App* app, Invocation& invocation);

/// The verb `export`, which several commands are parts of.
CLI::App* export_verb(CLI::App& app);

/// eval, decode, generate, and what else writes or judges text.
void add_text_commands(CLI::App& app, Invocation& invocation);

/// config show, validate, diff, schema, convert, graph.
void add_config_commands(CLI::App& app, Invocation& invocation);

/// data preview, inspect, stats, tokenize.
void add_data_commands(CLI::App& app, Invocation& invocation);

/// checkpoint list, show, hash, diff, convert, average.
void add_checkpoint_commands(CLI::App& app, Invocation& invocation);

/// import hf, export hf.
void add_huggingface_commands(CLI::App& app, Invocation& invocation);

/// new experiment, new layer.
void add_new_command(CLI::App& app, Invocation& invocation);

/// plan.
void add_plan_command(CLI::App& app, Invocation& invocation);

}  // namespace pax::cli
