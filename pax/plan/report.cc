#include "pax/plan/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "pax/base/text.h"
#include "pax/plan/roofline.h"

namespace pax {
namespace {

constexpr size_t kLayers = 10;

std::string bytes_text(int64_t bytes) { return human_bytes(static_cast<uint64_t>(std::max<int64_t>(bytes, 0))); }

std::string verdict(const Plan& plan) {
  const MemoryPlan& memory = plan.memory;
  if (memory.capacity == 0) return fmt::format("needs {} a device", bytes_text(memory.peak));
  const std::string of = fmt::format("{} of {} a device", bytes_text(memory.peak), bytes_text(memory.capacity));
  const int64_t margin = std::abs(memory.capacity - memory.peak);
  if (plan.fits()) return fmt::format("fits: {}, {} to spare", of, bytes_text(margin));
  return fmt::format("does not fit: {}, {} too much", of, bytes_text(margin));
}

std::string mesh_text(const Mesh& mesh) {
  if (mesh.axes.empty()) return "one device";
  std::vector<std::string> parts;
  for (size_t i = 0; i < mesh.axes.size(); ++i) parts.push_back(fmt::format("{} {}", mesh.axes[i], mesh.sizes[i]));
  return join(parts, " x ");
}

void add_memory(std::string& out, const MemoryPlan& memory) {
  const auto line = [&](std::string_view what, int64_t bytes) {
    out += fmt::format("  {:<34} {:>12}\n", what, bytes_text(bytes));
  };
  out += "memory a device:\n";
  line("weights", memory.weights);
  line("optimizer state", memory.optimizer_state);
  line("batch", memory.batch);
  line("activations, gradients, scratch", memory.activations);
  if (memory.code > 0) line("program", memory.code);
  line("peak", memory.peak);
  for (const Consumer& consumer : memory.largest) line(consumer.what, consumer.bytes);
}

void add_cost(std::string& out, const Plan& plan) {
  const StepCost& cost = plan.cost;
  out += fmt::format("predicted: {:.4g} s a step, {} tokens/s, MFU {:.1f} % ({:.1f} % with causal attention halved)\n",
                     cost.seconds, with_commas(static_cast<int64_t>(plan.tokens_per_s())), 100 * plan.mfu(),
                     100 * plan.mfu() * plan.causal_flops / plan.flops);
  out += fmt::format("  computing {:.4g} s, waiting for collectives {:.4g} s\n", cost.compute_s, cost.exposed_s);
  out += fmt::format("  by: {}\n", prediction_method(plan.machine));
  if (!cost.collectives.empty()) {
    out += fmt::format("collectives a step:\n  {:<20} {:<14} {:>7} {:>12} {:>10} {:>10}\n", "kind", "mesh axes",
                       "times", "bytes", "seconds", "exposed");
  }
  for (const CollectiveCost& one : cost.collectives) {
    out += fmt::format("  {:<20} {:<14} {:>7} {:>12} {:>10.4f} {:>10.4f}\n", one.kind, one.axes, one.count,
                       bytes_text(one.bytes), one.seconds, one.exposed_s);
  }
  out += "costliest layers:\n";
  for (size_t i = 0; i < std::min(kLayers, cost.layers.size()); ++i) {
    out += fmt::format("  {:>5.1f} %  {:>9.4f} s  {}\n", 100 * cost.layers[i].seconds / cost.seconds,
                       cost.layers[i].seconds, cost.layers[i].name);
  }
}

nlohmann::json memory_json(const MemoryPlan& memory) {
  nlohmann::json largest = nlohmann::json::array();
  for (const Consumer& consumer : memory.largest)
    largest.push_back({{"what", consumer.what}, {"bytes", consumer.bytes}});
  return {{"weights", memory.weights},   {"optimizer_state", memory.optimizer_state},
          {"batch", memory.batch},       {"activations", memory.activations},
          {"code", memory.code},         {"peak", memory.peak},
          {"capacity", memory.capacity}, {"largest", largest}};
}

nlohmann::json collectives_json(const StepCost& cost) {
  nlohmann::json rows = nlohmann::json::array();
  for (const CollectiveCost& one : cost.collectives) {
    rows.push_back({{"kind", one.kind},
                    {"axes", one.axes},
                    {"count", one.count},
                    {"bytes", one.bytes},
                    {"seconds", one.seconds},
                    {"exposed_s", one.exposed_s}});
  }
  return rows;
}

nlohmann::json layers_json(const StepCost& cost) {
  nlohmann::json rows = nlohmann::json::array();
  for (size_t i = 0; i < std::min(kLayers, cost.layers.size()); ++i) {
    rows.push_back({{"name", cost.layers[i].name}, {"seconds", cost.layers[i].seconds}});
  }
  return rows;
}

/// A number, or null where there is none.
nlohmann::json known(double value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(); }

}  // namespace

std::string prediction_method(const Machine& machine) {
  if (machine.platform == "tpu") {
    return fmt::format(
        "the compiler's own cycle estimates at {:g} GHz along its schedule, loops as often as they run; collectives by "
        "bytes over the links they use",
        machine.device.clock_hz / 1e9);
  }
  if (machine.platform == "cuda") {
    return fmt::format(
        "the compiled program's schedule; each instruction the longer of its products at {:.0f} % of {:g} TFLOP/s and "
        "its "
        "memory traffic at {:.0f} % of {:g} TB/s; collectives by bytes over the links they use",
        100 * kProductEfficiency, machine.device.peak_flops / 1e12, 100 * kMemoryEfficiency,
        machine.device.memory_bandwidth / 1e12);
  }
  return "nothing: times are not predicted for this platform";
}

std::string plan_text(const Plan& plan) {
  std::string out = fmt::format("{} on {}: {}\n", plan.experiment, describe(plan.machine), verdict(plan));
  out += fmt::format("{} parameters, batch of {} rows, {} tokens; mesh {}\n", with_commas(plan.parameters),
                     with_commas(plan.rows), with_commas(plan.tokens), mesh_text(plan.mesh));
  add_memory(out, plan.memory);
  if (plan.cost.seconds > 0) add_cost(out, plan);
  out +=
      fmt::format("model FLOPs a step: {:.4e}; {:.4e} with causal attention halved\n", plan.flops, plan.causal_flops);
  out +=
      fmt::format("trace {:.1f} ms, emit {:.1f} ms, compile {:.1f} s\n", plan.trace_ms, plan.emit_ms, plan.compile_s);
  if (!plan.refusal.empty()) out += fmt::format("the compiler says: {}\n", plan.refusal);
  if (!plan.advice.empty()) out += "to try:\n";
  for (const std::string& line : plan.advice) out += fmt::format("  - {}\n", line);
  return out;
}

std::string plan_json(const Plan& plan) {
  const nlohmann::json mesh{{"axes", plan.mesh.axes}, {"sizes", plan.mesh.sizes}};
  const nlohmann::json json{{"exp", plan.experiment},
                            {"topology", plan.machine.name},
                            {"devices", plan.machine.num_devices()},
                            {"device_kind", plan.machine.device.name},
                            {"mesh", mesh},
                            {"fits", plan.fits()},
                            {"peak_bytes_per_device", plan.memory.peak},
                            {"memory", memory_json(plan.memory)},
                            {"num_params", plan.parameters},
                            {"batch_rows", plan.rows},
                            {"tokens_per_step", plan.tokens},
                            {"flops_per_step", plan.flops},
                            {"causal_flops_per_step", plan.causal_flops},
                            {"predicted_step_s", known(plan.cost.seconds)},
                            {"predicted_tokens_per_s", known(plan.tokens_per_s())},
                            {"predicted_mfu", known(plan.mfu())},
                            {"compute_s", known(plan.cost.compute_s)},
                            {"exposed_collective_s", plan.cost.exposed_s},
                            {"prediction_method", prediction_method(plan.machine)},
                            {"collectives", collectives_json(plan.cost)},
                            {"layers", layers_json(plan.cost)},
                            {"trace_ms", plan.trace_ms},
                            {"emit_ms", plan.emit_ms},
                            {"compile_s", plan.compile_s},
                            {"advice", plan.advice}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace pax
