#include "pax/serving/export.h"

#include <nlohmann/json.hpp>

#include "pax/array/safetensors.h"
#include "pax/base/files.h"
#include "pax/ir/transform.h"
#include "pax/task/decode_steps.h"

namespace pax {
namespace {

nlohmann::json value_json(const ProgramValue& value, const char* role) {
  return {{"name", value.name},
          {"dtype", dtype_name(value.type.dtype)},
          {"shape", std::vector<int64_t>(value.type.shape.begin(), value.type.shape.end())},
          {"role", role}};
}

const char* role_of(const std::string& name, const HostTree& weights) {
  if (weights.contains(name)) return "weight";
  return name.starts_with("cache/") ? "cache" : "input";
}

}  // namespace

int64_t export_stablehlo(const ExperimentConfig& config, const ExportOptions& options) {
  const Session session(config);
  const LoadedVariables loaded = load_variables(session, options.job_log_dir, options.step, options.weights);
  const HostTree all = to_host(loaded.values);
  const TracedProgram traced = trace_extend_step(config.task, {.rows = options.rows, .length = options.length});
  const ProgramText text = program_text(*lower(*traced.graph, {}), {}, "extend_step");
  HostTree weights;
  nlohmann::json arguments = nlohmann::json::array(), results = nlohmann::json::array();
  for (const ProgramValue& argument : text.arguments) {
    arguments.push_back(value_json(argument, role_of(argument.name, all)));
    if (const auto at = all.find(argument.name); at != all.end()) weights.insert(*at);
  }
  for (const ProgramValue& result : text.results) {
    results.push_back(value_json(result, result.name == "logits" ? "output" : "cache"));
  }
  const nlohmann::json manifest{{"program", "extend_step.mlir"},
                                {"weights", "weights.safetensors"},
                                {"checkpoint_step", loaded.step},
                                {"rows", options.rows},
                                {"length", options.length},
                                {"arguments", arguments},
                                {"results", results}};
  std::filesystem::create_directories(options.out);
  write_file_atomically(options.out / "extend_step.mlir", text.stablehlo);
  write_safetensors(options.out / "weights.safetensors", weights);
  write_file_atomically(options.out / "manifest.json", manifest.dump(1) + "\n");
  return loaded.step;
}

}  // namespace pax
