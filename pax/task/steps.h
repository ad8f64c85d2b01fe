#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "pax/data/batch.h"
#include "pax/params/scope.h"
#include "pax/task/single_task.h"

namespace pax {

/// One array of the training state: `step`, `params/lm/…`, `opt_states_0/…`.
struct StateEntry {
  std::string name;
  TensorType type;
  Sharding sharding;
};

/// Milliseconds that building a program took.
struct TraceTimes {
  double trace_ms = 0;  ///< model: config to graph
  double grad_ms = 0;   ///< gradient and update
};

/// A program and what its inputs and outputs mean. Inputs: state entries by name, `batch/<field>`. Outputs: the state's
/// next values under the same names, `metrics/<name>/value` and `/weight`, `learning/<name>`, `summaries/<name>`.
struct TracedProgram {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::deque<Param> params;
  std::vector<StateEntry> state;
  TraceTimes times;
};

/// The model built into a trace. Nodes of the config that stand in several places become one layer.
std::shared_ptr<BaseModel> build_model(const SingleTask& task, ModelTrace& trace);

/// A batch as inputs `batch/<field>`, its rows split as the task says.
Tree<Tensor> batch_arguments(Graph& graph, const SingleTask& task, const data::BatchSpec& spec);

/// One update: loss, gradients, new weights, step + 1. Throws ShapeError and ConfigError while building.
TracedProgram trace_train_step(const SingleTask& task, const data::BatchSpec& batch);

/// The metrics of one batch, nothing changed. Reads `step` and variables only; to evaluate moving averages, pass them
/// under the variables' names.
TracedProgram trace_eval_step(const SingleTask& task, const data::BatchSpec& batch);

/// The first training state, drawn from `task.train.random_seed`. No inputs; outputs are the state's entries.
/// The values do not depend on mesh or platform.
TracedProgram trace_init(const SingleTask& task);

/// The variables and state of a task; nothing is traced but constructors.
TracedProgram declare_state(const SingleTask& task);

}  // namespace pax
