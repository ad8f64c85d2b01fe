#include "pax/task/steps.h"

#include <fmt/format.h>

#include <chrono>

#include "pax/autodiff/grad.h"
#include "pax/base/error.h"
#include "pax/config/sharing.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/random.h"
#include "pax/params/initial_state.h"

namespace pax {
namespace {

constexpr const char* kDefaultLoss = "total_loss";

class Stopwatch {
 public:
  double take_ms() {
    const auto now = std::chrono::steady_clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return ms;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Tensor step_argument(Graph& graph) { return graph.argument("step", {DType::kS32, {}}, Sharding{}); }

const TracedMetric& metric_named(const ModelOutput& output, const std::string& name) {
  const auto at = output.metrics.find(name);
  if (at != output.metrics.end()) return at->second;
  std::string known;
  for (const auto& [metric, value] : output.metrics) known += (known.empty() ? "" : ", ") + metric;
  fail<ConfigError>("task.train.learner.loss_name: the model has no metric \"{}\"; it has {}", name, known);
}

void output_metrics(Graph& graph, const ModelOutput& output, const SideResults& sides) {
  for (const auto& [name, metric] : output.metrics) {
    graph.output(fmt::format("metrics/{}/value", name), convert(metric.value, DType::kF32), Sharding{});
    graph.output(fmt::format("metrics/{}/weight", name), convert(metric.weight, DType::kF32), Sharding{});
  }
  for (const SideResults::Named& summary : sides.summaries) {
    const auto rank = static_cast<size_t>(summary.value.rank());
    graph.output("summaries/" + summary.name, convert(summary.value, DType::kF32),
                 Sharding{std::vector<std::vector<std::string>>(rank)});
  }
}

std::vector<StateEntry> state_entries(const std::deque<Param>& params, const Learner& learner) {
  std::vector<StateEntry> entries{{"step", {DType::kS32, {}}, {}}};
  for (const Param& param : params) {
    if (param.spec.collection == Collection::kDecoderCache) continue;
    entries.push_back({param.state_name(), param.spec.stored_type(), Sharding{param.spec.split}});
  }
  for (const StateSpec& spec : learner.state_specs(params)) entries.push_back({spec.name, spec.type, spec.sharding});
  return entries;
}

/// Writes the next values of all variables and of the learner's state.
void output_update(Graph& graph, const std::deque<Param>& params, const std::vector<StateEntry>& state,
                   const LearnerResult& result, const SideResults& sides) {
  Tree<Tensor> next = result.weights;
  next.insert(result.states.begin(), result.states.end());
  for (const SideResults::Named& update : sides.updates) next[update.name] = update.value;
  for (const Param& param : params) next.emplace(param.state_name(), param.value);
  for (const StateEntry& entry : state) {
    if (entry.name != "step") graph.output(entry.name, next.at(entry.name), entry.sharding);
  }
}

}  // namespace

std::shared_ptr<BaseModel> build_model(const SingleTask& task, ModelTrace& trace) {
  if (!task.model) fail<ConfigError>("task.model: required; set the model that the task trains");
  const Tpl<BaseModel> model = task.model.clone();
  config::mark_shared(model);
  return model.build(Scope(trace));
}

Tree<Tensor> batch_arguments(Graph& graph, const SingleTask& task, const data::BatchSpec& spec) {
  Tree<Tensor> batch;
  for (const auto& [name, type] : spec) {
    Sharding sharding{std::vector<std::vector<std::string>>(static_cast<size_t>(type.shape.rank()))};
    if (type.shape.rank() > 0) sharding.dims[0] = task.train.batch_split;
    batch[name] = graph.argument("batch/" + name, type, std::move(sharding));
  }
  return batch;
}

TracedProgram trace_train_step(const SingleTask& task, const data::BatchSpec& batch_spec) {
  Stopwatch watch;
  TracedProgram program;
  Graph& graph = *program.graph;
  ModelTrace trace(graph, ModelTrace::Mode::kTrain);
  const Tensor step = step_argument(graph);
  trace.step = step;
  trace.random_key = fold_in(random_key(graph, static_cast<uint64_t>(task.train.random_seed)), step);
  const std::shared_ptr<BaseModel> model = build_model(task, trace);
  const std::shared_ptr<Learner> learner = task.train.learner.build();
  const ModelOutput output = model->compute_loss(batch_arguments(graph, task, batch_spec));
  const SideResults sides = take_side_results(graph);
  program.times.trace_ms = watch.take_ms();

  const Tensor loss = metric_named(output, learner->config().loss_name.value_or(kDefaultLoss)).value;
  std::vector<Tensor> weights;
  const std::vector<const Param*> trained = learner->trained(trace.params());
  for (const Param* param : trained) weights.push_back(param->value);
  const std::vector<Tensor> gradients = grad(loss, weights);
  Tree<Tensor> grads, states;
  for (size_t i = 0; i < trained.size(); ++i) grads[trained[i]->state_name()] = gradients[i];
  program.state = state_entries(trace.params(), *learner);
  for (const StateSpec& spec : learner->state_specs(trace.params())) {
    states[spec.name] = graph.argument(spec.name, spec.type, spec.sharding);
  }
  const LearnerResult result = learner->apply(trace.params(), grads, states);

  graph.output("step", step + full_like(step, 1), Sharding{});
  output_update(graph, trace.params(), program.state, result, sides);
  output_metrics(graph, output, sides);
  for (const auto& [name, value] : result.metrics) graph.output(name, convert(value, DType::kF32), Sharding{});
  program.params = trace.params();
  program.times.grad_ms = watch.take_ms();
  return program;
}

TracedProgram trace_eval_step(const SingleTask& task, const data::BatchSpec& batch_spec) {
  Stopwatch watch;
  TracedProgram program;
  Graph& graph = *program.graph;
  ModelTrace trace(graph, ModelTrace::Mode::kEval);
  const std::shared_ptr<BaseModel> model = build_model(task, trace);
  const ModelOutput output = model->compute_loss(batch_arguments(graph, task, batch_spec));
  output_metrics(graph, output, take_side_results(graph));
  program.params = trace.params();
  program.times.trace_ms = watch.take_ms();
  return program;
}

TracedProgram declare_state(const SingleTask& task) {
  TracedProgram program;
  ModelTrace trace(*program.graph, ModelTrace::Mode::kTrain);
  build_model(task, trace);
  program.params = trace.params();
  program.state = state_entries(program.params, *task.train.learner.build());
  return program;
}

TracedProgram trace_init(const SingleTask& task) {
  const TracedProgram declared = declare_state(task);
  TracedProgram program;
  program.state = declared.state;
  Graph& graph = *program.graph;
  const Tensor key = random_key(graph, static_cast<uint64_t>(task.train.random_seed));
  Tree<Tensor> values;
  values["step"] = full(graph, {DType::kS32, {}}, 0);
  for (const Param& param : declared.params) values[param.state_name()] = initial_value(param, key);
  for (const StateSpec& spec : task.train.learner.build()->state_specs(declared.params)) {
    values[spec.name] = first_value(spec, graph, values);
  }
  for (const StateEntry& entry : program.state) graph.output(entry.name, values.at(entry.name), entry.sharding);
  return program;
}

}  // namespace pax
