#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/layer_tree.h"
#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/experiments/registry.h"
#include "pax/plan/plan.h"
#include "pax/task/flops.h"
#include "pax/trainer/mesh.h"

namespace pax::cli {
namespace {

bool contains(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

/// "lm.c4" of "lm.c4.C4SpmdAdam"; "maxtext" of "maxtext.llama3.1-8b", which ends in no class.
std::string group_of(std::string_view name) {
  const size_t last = name.find_last_of('.');
  const bool ends_in_class = last + 1 < name.size() && std::isupper(static_cast<unsigned char>(name[last + 1])) != 0;
  return std::string(name.substr(0, ends_in_class ? last : name.find('.')));
}

/// The evaluation step; of a model that evaluates only what an input of its own gives, the training step.
TracedProgram trace_forward(const ExperimentConfig& config) {
  const data::BatchSpec batch = training_batch_spec(config);
  try {
    return trace_eval_step(config.task, batch);
  } catch (const ShapeError&) {
    return trace_train_step(config.task, batch);
  }
}

nlohmann::json variables(const TracedProgram& program) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Param& param : program.params) {
    const TensorType type = param.spec.stored_type();
    rows.push_back({{"name", param.state_name()},
                    {"shape", std::vector<int64_t>(type.shape.begin(), type.shape.end())},
                    {"dtype", dtype_name(type.dtype)},
                    {"num_params", type.shape.num_elements()}});
  }
  return rows;
}

}  // namespace

int list_command(const std::string& search, bool json) {
  const config::Registry registry = make_registry();
  std::map<std::string, std::vector<const config::ConfigType*>> groups;
  nlohmann::json rows = nlohmann::json::array();
  for (const config::ConfigType* type : registry.implementing(config::type_name<Experiment>())) {
    if (!contains(type->name, search) && !contains(type->doc, search)) continue;
    rows.push_back({{"name", type->name}, {"doc", type->doc}});
    groups[group_of(type->name)].push_back(type);
  }
  if (json) {
    fmt::print("{}\n", rows.dump());
    return kDone;
  }
  for (const auto& [group, types] : groups) {
    fmt::print("{} ({})\n", group, types.size());
    for (const config::ConfigType* type : types) fmt::print("  {:56} {}\n", type->name, type->doc);
  }
  return kDone;
}

int describe_command(const Common& common, const std::filesystem::path& html) {
  const LoadedExperiment loaded = load_valid(common);
  const TracedProgram program = trace_forward(loaded.config);
  const Mesh mesh = experiment_mesh(loaded.config);
  const LayerRow tree = layer_tree(program, mesh);
  const double flops = training_flops(*program.graph);
  const std::string summary = fmt::format(
      "{}: {} parameters, {} of weights on each of {} devices, {:.3e} floating-point operations a training step",
      loaded.name, with_commas(tree.num_params), human_bytes(static_cast<uint64_t>(tree.bytes_per_device)),
      mesh.num_devices(), flops);
  if (!html.empty()) write_file_atomically(html, layer_page(tree, loaded.name, summary));
  if (!common.json && html.empty()) fmt::print("{}", layer_text(tree));
  fmt::print("{}\n", summary);
  if (common.json) {
    const nlohmann::json json{
        {"num_params", tree.num_params}, {"flops_per_step", flops}, {"layers", variables(program)}};
    fmt::print("{}\n", json.dump());
  }
  return kDone;
}

}  // namespace pax::cli
