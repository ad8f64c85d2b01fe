#include "pax/trainer/evaluate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/metrics/event_file.h"
#include "pax/trainer/inputs.h"

namespace pax {
namespace {

/// The metrics that an earlier evaluation left; nothing when the file is not what we write.
std::optional<Tree<WeightedScalar>> read_results(const std::filesystem::path& path) {
  const nlohmann::json json = nlohmann::json::parse(read_file(path), nullptr, false);
  if (!json.is_object() || !json.contains("metrics") || !json["metrics"].is_object()) return std::nullopt;
  Tree<WeightedScalar> metrics;
  for (const auto& [name, pair] : json["metrics"].items()) {
    if (!pair.is_object() || !pair.contains("weight")) return std::nullopt;
    const auto number = [&](const char* field) {
      return pair[field].is_number() ? pair[field].get<double>() : std::numeric_limits<double>::quiet_NaN();
    };
    metrics[name] = {number("value"), number("weight")};
  }
  return metrics;
}

}  // namespace

std::vector<std::unique_ptr<Evaluator>> make_evaluators(Session& session) {
  std::vector<std::unique_ptr<Evaluator>> evaluators;
  std::vector<std::pair<data::BatchSpec, std::shared_ptr<const Program>>> compiled;
  for (std::shared_ptr<data::Input>& input : build_eval_inputs(session.config())) {
    const data::BatchSpec spec = input->spec();
    std::shared_ptr<const Program> program;
    for (const auto& [known, its_program] : compiled) {
      if (known == spec) program = its_program;
    }
    if (!program) {
      program = session.compile(trace_eval_step(session.config().task, spec), "eval_step");
      compiled.emplace_back(spec, program);
    }
    const std::string name = input->name();
    evaluators.push_back(std::make_unique<Evaluator>(
        name, program, std::move(input), [&session](const HostTree& batch) { return session.batch_to_device(batch); }));
  }
  return evaluators;
}

EvalRun::EvalRun(const ExperimentConfig& config, EvalOptionsOfRun options)
    : options_(std::move(options)), session_(config), evaluators_(make_evaluators(session_)) {
  if (evaluators_.empty()) {
    fail<ConfigError>("eval_inputs: the experiment has nothing to evaluate on; add an input to eval_inputs");
  }
}

std::filesystem::path EvalRun::result_path(const std::string& data_set, int64_t step) const {
  return options_.job_log_dir / "eval_out" / data_set / fmt::format("eval_out_{}_shard_0.jsonl", step);
}

void EvalRun::write(const std::string& data_set, int64_t step, const Tree<WeightedScalar>& metrics) const {
  EventFileWriter events(options_.job_log_dir / "summaries" / ("eval_test_" + data_set), step);
  nlohmann::json pairs = nlohmann::json::object();
  for (const auto& [name, mean] : metrics) {
    events.scalar(step, "Metrics/" + name, mean.value);
    events.scalar(step, "Metrics/" + name + "-weight", mean.weight);
    pairs[name] = {{"value", mean.value}, {"weight", mean.weight}};
  }
  events.close();
  const std::filesystem::path path = result_path(data_set, step);
  std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path, nlohmann::json{{"step", step}, {"data_set", data_set}, {"metrics", pairs}}.dump() + "\n");
}

EvalOutcome EvalRun::evaluate(int64_t step, const std::function<bool()>& stop_requested) {
  EvalOutcome outcome{.step = step};
  std::optional<LoadedVariables> loaded;
  for (const auto& evaluator : evaluators_) {
    const std::string& name = evaluator->name();
    const std::filesystem::path path = result_path(name, step);
    if (!options_.redo && std::filesystem::exists(path)) {
      if (auto known = read_results(path)) {
        outcome.eval[name] = std::move(*known);
        ++outcome.done_before;
        continue;
      }
    }
    if (!loaded) loaded = load_variables(session_, options_.job_log_dir, step, options_.weights);
    auto metrics = evaluator->run(loaded->values, stop_requested);
    if (!metrics) {
      outcome.stopped = true;
      break;
    }
    write(name, step, *metrics);
    outcome.eval[name] = std::move(*metrics);
  }
  return outcome;
}

}  // namespace pax
