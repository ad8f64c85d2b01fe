#include "pax/trainer/variables.h"

#include "pax/base/error.h"
#include "pax/checkpoint/catalog.h"
#include "pax/checkpoint/reader.h"
#include "pax/trainer/hooks/checkpoint_hook.h"

namespace pax {

DeviceTree eval_variables(const SingleTask& task, const std::deque<Param>& params, const DeviceTree& state) {
  DeviceTree variables = state;
  if (!task.train.eval_use_ema_states) return variables;
  const auto learner = task.train.learner.build();
  for (const Param& param : params) {
    const std::string ema = learner->ema_name(param);
    if (!ema.empty()) variables.insert_or_assign(param.state_name(), state.at(ema));
  }
  return variables;
}

LoadedVariables load_variables(const Session& session, const std::filesystem::path& job_log_dir,
                               std::optional<int64_t> step, WhichWeights which) {
  const SingleTask& task = session.config().task;
  const CheckpointReader saved(find_checkpoint(job_log_dir, step));
  Graph graph;
  ModelTrace trace(graph, ModelTrace::Mode::kTrain);
  build_model(task, trace);
  const bool average =
      which == WhichWeights::kAverage || (which == WhichWeights::kAsConfigured && task.train.eval_use_ema_states);
  const auto learner = average ? task.train.learner.build() : nullptr;
  Tree<std::string> sources;  // Where each variable is in the checkpoint.
  Tree<TensorType> expected;
  int64_t averages = 0;
  for (const Param& param : trace.params()) {
    if (param.spec.collection == Collection::kDecoderCache) continue;
    const std::string ema = average ? learner->ema_name(param) : "";
    averages += ema.empty() ? 0 : 1;
    const std::string source = ema.empty() ? param.state_name() : ema;
    sources[param.state_name()] = source;
    expected[source] = param.spec.stored_type();
  }
  if (which == WhichWeights::kAverage && averages == 0) {
    fail<ConfigError>("the moving average was asked for, but task.train.learner keeps none (ema_decay is 0)");
  }
  expected = to_checkpoint_names(std::move(expected));
  Tree<TensorType> found;
  std::vector<std::string> names;
  for (const auto& [name, type] : expected) {
    const auto at = saved.types().find(name);
    if (at == saved.types().end()) continue;
    found[name] = at->second;
    names.push_back(name);
  }
  require_same_types(saved.path().string(), found, expected, "use the experiment that wrote it");
  HostTree read = from_checkpoint_names(saved.read(names));
  HostTree values;
  std::vector<StateEntry> entries;
  for (const Param& param : trace.params()) {
    const auto at = sources.find(param.state_name());
    if (at == sources.end()) continue;
    values[at->first] = std::move(read.at(at->second));
    entries.push_back({at->first, param.spec.stored_type(), Sharding{param.spec.split}});
  }
  LoadedVariables loaded{.step = saved.step(), .checkpoint = saved.path(), .values = {}};
  loaded.values = session.state_to_device(values, entries);
  return loaded;
}

}  // namespace pax
