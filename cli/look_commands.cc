#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/experiments/registry.h"
#include "pax/ir/stablehlo.h"
#include "pax/task/flops.h"
#include "pax/task/steps.h"
#include "pax/trainer/inputs.h"
#include "pax/trainer/mesh.h"

namespace pax::cli {
namespace {

/// Batches that the experiment trains on, without opening its data when the input can tell from its config.
data::BatchSpec batch_spec(const ExperimentConfig& config) {
  const auto rows = config.input.get<std::optional<int64_t>>("batch_size");
  if (rows && config.input.has_field("seq_len")) {
    return data::lm_batch_spec(*rows, config.input.get<std::optional<int64_t>>("seq_len").value());
  }
  return build_train_input(config)->spec();
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int list_command(const std::string& search, bool json) {
  const config::Registry registry = make_registry();
  nlohmann::json rows = nlohmann::json::array();
  for (const config::ConfigType* type : registry.implementing(config::type_name<Experiment>())) {
    if (type->name.find(search) == std::string_view::npos) continue;
    rows.push_back({{"name", type->name}, {"doc", type->doc}});
    if (!json) fmt::print("{:44} {}\n", type->name, type->doc);
  }
  if (json) fmt::print("{}\n", rows.dump());
  return kDone;
}

int describe_command(const Common& common) {
  const LoadedExperiment loaded = load_valid(common);
  const TracedProgram eval = trace_eval_step(loaded.config.task, batch_spec(loaded.config));
  const double flops = training_flops(*eval.graph);
  int64_t total = 0;
  nlohmann::json layers = nlohmann::json::array();
  for (const Param& param : eval.params) {
    const TensorType type = param.spec.stored_type();
    if (param.spec.collection == Collection::kParams) total += type.shape.num_elements();
    layers.push_back({{"name", param.state_name()},
                      {"shape", std::vector<int64_t>(type.shape.begin(), type.shape.end())},
                      {"dtype", dtype_name(type.dtype)},
                      {"num_params", type.shape.num_elements()}});
    if (!common.json) {
      fmt::print("{:80} {:24} {:>16}\n", param.state_name(), to_string(type), with_commas(type.shape.num_elements()));
    }
  }
  fmt::print("{}: {} parameters, {:.3e} floating-point operations a training step\n", loaded.name, with_commas(total),
             flops);
  if (common.json) {
    const nlohmann::json json{{"num_params", total}, {"flops_per_step", flops}, {"layers", layers}};
    fmt::print("{}\n", json.dump());
  }
  return kDone;
}

int trace_command(const Common& common, const TraceOptions& options) {
  const LoadedExperiment loaded = load_valid(common);
  const TracedProgram program = trace_train_step(loaded.config.task, batch_spec(loaded.config));
  const auto start = std::chrono::steady_clock::now();
  const Mesh mesh = experiment_mesh(loaded.config);
  const auto lowered = lower(*program.graph, {.partitioned = mesh.num_devices() > 1});
  const std::string text = to_stablehlo(*lowered, {.mesh = mesh});
  const double emit_ms = ms_since(start);
  if (!options.out.empty()) write_file_atomically(options.out, text);
  if (options.print) fmt::print("{}", text);
  const double total = program.times.trace_ms + program.times.grad_ms + emit_ms;
  fmt::print("{}: trace {:.1f} ms, gradient {:.1f} ms, emit {:.1f} ms, together {:.1f} ms; {} ops, {} of text\n",
             loaded.name, program.times.trace_ms, program.times.grad_ms, emit_ms, total,
             with_commas(static_cast<int64_t>(lowered->num_nodes())), human_bytes(text.size()));
  if (common.json) {
    const nlohmann::json json{{"exp", loaded.name},
                              {"trace_ms", program.times.trace_ms},
                              {"grad_ms", program.times.grad_ms},
                              {"emit_ms", emit_ms},
                              {"total_ms", total},
                              {"ops", lowered->num_nodes()},
                              {"text_bytes", text.size()}};
    fmt::print("{}\n", json.dump());
  }
  return kDone;
}

}  // namespace pax::cli
