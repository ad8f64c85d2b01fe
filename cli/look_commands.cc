#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/experiments/registry.h"
#include "pax/ir/print.h"
#include "pax/ir/stablehlo.h"
#include "pax/plan/plan.h"
#include "pax/task/flops.h"
#include "pax/task/steps.h"
#include "pax/trainer/mesh.h"

namespace pax::cli {
namespace {

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int trace_command(const Common& common, const TraceOptions& options) {
  const LoadedExperiment loaded = load_valid(common);
  const TracedProgram program = trace_train_step(loaded.config.task, training_batch_spec(loaded.config));
  const auto start = std::chrono::steady_clock::now();
  const Mesh mesh = experiment_mesh(loaded.config);
  const auto lowered = lower(*program.graph, {.partitioned = mesh.num_devices() > 1});
  const std::string text = to_stablehlo(*lowered, {.mesh = mesh});
  const double emit_ms = ms_since(start);
  if (!options.out.empty()) write_file_atomically(options.out, text);
  if (options.print) fmt::print("{}", to_readable(*program.graph));
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
