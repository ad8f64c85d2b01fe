#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/invocation.h"
#include "cli/plan_sweep.h"
#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/plan/compiled_step.h"
#include "pax/plan/report.h"

namespace pax::cli {
namespace {

/// Flags of `plan` beside those of every experiment.
struct PlanFlags {
  std::string topology;
  std::filesystem::path html;
  std::string program_out;
  std::vector<std::string> xla_flags;
  std::string sweep;
  size_t jobs = 1;
};

/// `name=value` as XLA takes it: a truth value, a whole number, or text.
std::pair<std::string, NamedValue> parse_flag(const std::string& text) {
  const size_t equal = text.find('=');
  if (equal == std::string::npos || equal == 0) {
    fail<ConfigError>("--xla_flag {}: give name=value, such as xla_tpu_enable_latency_hiding_scheduler=true", text);
  }
  const std::string name = text.substr(0, equal), value = text.substr(equal + 1);
  if (value == "true" || value == "false") return {name, value == "true"};
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size()) return {name, number};
  return {name, value};
}

/// The command line of one plan with the experiment of `common`.
std::vector<std::string> plan_args(const Common& common, const PlanFlags& flags) {
  std::vector<std::string> args{"paxml", "plan", "--json", "--topology", flags.topology};
  const auto add = [&](const char* flag, const std::string& value) { args.insert(args.end(), {flag, value}); };
  if (!common.experiment.name.empty()) add("--exp", common.experiment.name);
  if (!common.experiment.file.empty()) add("--config", common.experiment.file.string());
  for (const std::string& value : common.experiment.overrides) add("--set", value);
  for (const std::string& flag : flags.xla_flags) add("--xla_flag", flag);
  for (const std::string& constant : common.experiment.constants) args.push_back("--fdl." + constant);
  return args;
}

int sweep_command(const Common& common, const PlanFlags& flags) {
  const Machine machine = find_machine(flags.topology);
  const LoadedExperiment loaded = load_valid(common);
  const auto tried = alternatives(loaded.config, machine, parse_sweep(flags.sweep));
  std::vector<SweepRow> rows = sweep(plan_args(common, flags), tried, std::max<size_t>(flags.jobs, 1));
  rank(rows);
  fmt::print("{} on {}\n{}", loaded.name, describe(machine), sweep_text(rows));
  if (common.json) fmt::print("{}\n", sweep_json(rows));
  return kDone;
}

int plan_command(const Common& common, const PlanFlags& flags) {
  if (!flags.sweep.empty()) return sweep_command(common, flags);
  const Machine machine = find_machine(flags.topology);
  const LoadedExperiment loaded = load_valid(common);
  PlanOptions options{.experiment = loaded.name, .program_out = flags.program_out, .cache = default_plan_cache()};
  for (const std::string& flag : flags.xla_flags) options.xla_flags.push_back(parse_flag(flag));
  const Plan plan = make_plan(loaded.config, machine, options);
  fmt::print("{}", plan_text(plan));
  if (!flags.html.empty()) write_file_atomically(flags.html, plan_html(plan));
  if (common.json) fmt::print("{}\n", plan_json(plan));
  return kDone;
}

}  // namespace

void add_plan_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<PlanFlags>();
  CLI::App* plan = app.add_subcommand("plan", "Memory, time and collectives of a training step on a machine");
  add_experiment_flags(plan, invocation);
  plan->add_option("--topology", flags->topology, "v4-8, v5p-128, 2xv4-128, h100x8, cpux8, …")->required();
  plan->add_option("--html", flags->html, "Write the report to this file as well");
  plan->add_option("--program_out", flags->program_out, "Write the compiled program (HLO, serialized) to this file");
  plan->add_option("--xla_flag", flags->xla_flags, "A debug option of XLA, name=value; may be given several times")
      ->take_all()
      ->expected(1);
  plan->add_option("--sweep", flags->sweep, "Try alternatives and rank them: remat, mesh, or both (remat,mesh)");
  plan->add_option("--jobs", flags->jobs, "Alternatives to compile at once");
  plan->callback([&invocation, flags] {
    invocation.command = [&invocation, flags] { return plan_command(invocation.common, *flags); };
  });
}

}  // namespace pax::cli
