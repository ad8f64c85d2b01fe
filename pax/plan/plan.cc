#include "pax/plan/plan.h"

#include <chrono>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/text.h"
#include "pax/ir/transform.h"
#include "pax/plan/advice.h"
#include "pax/plan/compiled_step.h"
#include "pax/plan/placement.h"
#include "pax/runtime/program.h"
#include "pax/task/flops.h"
#include "pax/trainer/inputs.h"
#include "pax/trainer/mesh.h"
#include "pax/trainer/session.h"

namespace pax {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void require_all_devices(const Mesh& mesh, const Machine& machine) {
  const int64_t have = machine.num_devices(), want = mesh.num_devices();
  if (have == want) return;
  fail<ConfigError>(
      "the mesh of the experiment has {} devices (axes {}, sizes {}) but {} has {}; set task.model.ici_mesh_shape and "
      "dcn_mesh_shape so that their product is {}, or plan for a topology of {} devices",
      want, join(mesh.axes, ","), join(mesh.sizes, ","), machine.name, have, have, want);
}

Target target_of(const Machine& machine) {
  Target target{.partitioned = machine.num_devices() > 1};
  if (machine.platform == "tpu") target.platform = Target::Platform::kTpu;
  if (machine.platform == "cuda") target.platform = Target::Platform::kGpu;
  return target;
}

PlatformConfig platform_of(const ExperimentConfig& config, const Machine& machine) {
  PlatformConfig platform = config.platform;
  if (platform.name != machine.platform) platform.plugin.clear();
  platform.name = machine.platform;
  return platform;
}

std::vector<int64_t> devices_of(const ExperimentConfig& config, const Machine& machine) {
  const MeshShape shape = mesh_shape(config);
  return place(shape.ici, shape.dcn, machine);
}

/// One plan being made.
class Planner {
 public:
  Planner(const ExperimentConfig& config, const Machine& machine, const PlanOptions& options)
      : config_(config), options_(options) {
    plan_.experiment = options.experiment;
    plan_.machine = machine;
    plan_.mesh = experiment_mesh(config);
    require_all_devices(plan_.mesh, machine);
  }

  Plan make() {
    const data::BatchSpec batch = training_batch_spec(config_);
    count(batch);
    const auto start = Clock::now();
    step_ = trace_train_step(config_.task, batch);
    plan_.trace_ms = ms_since(start);
    plan_.memory = plan_memory(step_, plan_.mesh, plan_.machine.device.memory_bytes);
    if (plan_.machine.platform == "cpu") {
      compile_for_cpu();
    } else {
      compile_ahead();
    }
    if (!plan_.fits()) plan_.advice = advise(config_, plan_);
    return std::move(plan_);
  }

 private:
  void count(const data::BatchSpec& batch) {
    const TracedProgram eval = trace_eval_step(config_.task, batch);
    plan_.flops = training_flops(*eval.graph);
    plan_.causal_flops = plan_.flops - 1.5 * count_attention_flops(*eval.graph);
    for (const Param& param : eval.params) {
      if (param.spec.collection == Collection::kParams)
        plan_.parameters += param.spec.stored_type().shape.num_elements();
    }
    for (const auto& [name, type] : batch) {
      if (type.shape.rank() > 0) plan_.rows = std::max(plan_.rows, type.shape[0]);
      if (name == "ids") plan_.tokens = type.shape.num_elements();
    }
    if (plan_.tokens == 0) plan_.tokens = plan_.rows;
  }

  /// As a run would: the same program on as many virtual devices.
  void compile_for_cpu() {
    ExperimentConfig config = config_;
    config.platform = platform_of(config_, plan_.machine);
    config.platform.cpu_device_count = plan_.machine.num_devices();
    Session session(config);
    const auto start = Clock::now();
    const auto program = session.compile(step_, "train_step");
    plan_.compile_s = ms_since(start) / 1000;
    add_program(plan_.memory, program->executable().executable().memory_stats());
  }

  void compile_ahead() {
    const auto plugin = load_compiler(platform_of(config_, plan_.machine));
    const Topology topology = Topology::create(plugin, plan_.machine.topology_name, plan_.machine.options);
    const PlacedMesh placed{plan_.mesh, devices_of(config_, plan_.machine)};
    const auto start = Clock::now();
    const auto lowered = lower(*step_.graph, target_of(plan_.machine));
    const ProgramText text = program_text(*lowered, plan_.mesh, "train_step");
    plan_.emit_ms = ms_since(start);
    CompiledStep compiled = PlanCache(options_.cache)
                                .compile(topology, plan_.machine.name, text.stablehlo,
                                         {.num_partitions = plan_.mesh.num_devices(),
                                          .device_ids = placed.devices,
                                          .xla_flags = options_.xla_flags});
    plan_.compile_s = compiled.compile_s;
    plan_.refusal = compiled.refusal;
    if (!plan_.refusal.empty()) {
      add_refusal(plan_.memory, plan_.refusal);
      return;
    }
    add_program(plan_.memory, compiled.memory);
    if (!options_.program_out.empty()) write_file_atomically(options_.program_out, compiled.program.bytes);
    const HloModule program(compiled.program.format, std::move(compiled.program.bytes));
    plan_.cost = step_cost(program, plan_.machine, placed);
  }

  const ExperimentConfig& config_;
  const PlanOptions& options_;
  TracedProgram step_;
  Plan plan_;
};

}  // namespace

double Plan::mfu() const {
  const double peak = machine.device.peak_flops * static_cast<double>(machine.num_devices());
  return cost.seconds > 0 && peak > 0 ? flops / cost.seconds / peak : 0;
}

data::BatchSpec training_batch_spec(const ExperimentConfig& config) {
  const auto rows = config.input.get<std::optional<int64_t>>("batch_size");
  if (rows && config.input.has_field("seq_len")) {
    return data::lm_batch_spec(*rows, config.input.get<std::optional<int64_t>>("seq_len").value());
  }
  return build_train_input(config)->spec();
}

Plan make_plan(const ExperimentConfig& config, const Machine& machine, const PlanOptions& options) {
  return Planner(config, machine, options).make();
}

}  // namespace pax
