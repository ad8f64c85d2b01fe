#include "pax/trainer/warm_start_state.h"

#include "pax/base/error.h"
#include "pax/config/yaml.h"
#include "pax/trainer/hooks/checkpoint_hook.h"

namespace pax {
namespace {

constexpr std::string_view kPath = "task.train.init_from_checkpoint_rules";

CheckpointLoadingRules read_rules(const config::Value& value, const std::string& checkpoint) {
  CheckpointLoadingRules rules;
  if (!checkpoint.empty()) rules.checkpoint_path = checkpoint;
  const config::Registry none;
  config::update(config::Ref(rules), value, none);
  if (!rules.checkpoint_path.has_value()) fail<ConfigError>("{}: checkpoint_path is missing", kPath);
  return rules;
}

}  // namespace

std::vector<CheckpointLoadingRules> loading_rules(const config::Value& value) {
  std::vector<CheckpointLoadingRules> all;
  if (value.is_null()) return all;
  try {
    if (value.is_map()) {
      for (size_t i = 0; i < value.items.size(); ++i) all.push_back(read_rules(value.items[i], value.keys[i]));
    } else if (value.is_list()) {
      for (const config::Value& item : value.items) all.push_back(read_rules(item, ""));
    } else {
      fail<ConfigError>("needs a map from checkpoint to rules, or a list of rules, not {}", config::describe(value));
    }
  } catch (const ConfigError& error) {
    fail<ConfigError>("{}: {}", kPath, error.what());
  }
  return all;
}

WarmStartResult warm_start_state(const Session& session, const std::deque<Param>& params,
                                 const std::vector<StateEntry>& entries, DeviceTree& state) {
  const SingleTask& task = session.config().task;
  const std::vector<CheckpointLoadingRules> rules = loading_rules(task.train.init_from_checkpoint_rules);
  if (rules.empty()) return {};
  Tree<TensorType> types;
  for (const StateEntry& entry : entries) types[entry.name] = entry.type;
  WarmStart start = warm_start(to_checkpoint_names(std::move(types)), rules);
  HostTree values = from_checkpoint_names(std::move(start.state));
  if (!start.has_opt_states) {
    for (const StateSpec& spec : task.train.learner.build()->state_specs(params)) {
      const auto weight = values.find(spec.init_from);
      if (!spec.init_from.empty() && weight != values.end()) {
        values[spec.name] = weight->second.converted(spec.type.dtype);
      }
    }
  }
  if (start.step) values["step"] = HostArray::scalar<int32_t>(static_cast<int32_t>(*start.step));
  std::vector<StateEntry> taken;
  for (const StateEntry& entry : entries) {
    if (values.contains(entry.name)) taken.push_back(entry);
  }
  for (auto& [name, value] : session.state_to_device(values, taken)) state.insert_or_assign(name, std::move(value));
  return {.step = start.step.value_or(0), .from = std::move(start.from)};
}

}  // namespace pax
