#include "pax/trainer/hooks/checkpoint_hook.h"

namespace pax {
namespace {

constexpr std::string_view kVariables = "mdl_vars/";

std::string checkpoint_name_of(const std::string& name) {
  const bool variable = name.starts_with("params/") || name.starts_with("non_trainable/");
  return variable ? std::string(kVariables) + name : name;
}

template <class T, class Rename>
Tree<T> renamed(Tree<T> tree, Rename rename) {
  Tree<T> out;
  for (auto& [name, leaf] : tree) out.emplace(rename(name), std::move(leaf));
  return out;
}

}  // namespace

HostTree to_checkpoint_names(HostTree state) { return renamed(std::move(state), checkpoint_name_of); }

Tree<TensorType> to_checkpoint_names(Tree<TensorType> state) { return renamed(std::move(state), checkpoint_name_of); }

HostTree from_checkpoint_names(HostTree state) {
  return renamed(std::move(state), [](const std::string& name) {
    return name.starts_with(kVariables) ? name.substr(kVariables.size()) : name;
  });
}

CheckpointHook::CheckpointHook(CheckpointManager& manager, std::function<std::map<std::string, std::string>()> items)
    : manager_(manager), items_(std::move(items)) {}

void CheckpointHook::save(int64_t step, const DeviceTree& state) {
  manager_.save({.step = step, .state = to_checkpoint_names(to_host(state)), .items = items_()});
}

void CheckpointHook::finish(StopReason, int64_t step, const DeviceTree& state) {
  if (!manager_.is_saved(step)) save(step, state);
  manager_.wait();
}

}  // namespace pax
