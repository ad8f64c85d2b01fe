#include "pax/trainer/session.h"

#include "pax/base/error.h"
#include "pax/ir/transform.h"
#include "pax/kernels/registry.h"
#include "pax/trainer/mesh.h"

namespace pax {
namespace {

std::shared_ptr<const DeviceMesh> open_mesh(const ExperimentConfig& config) {
  const Mesh mesh = experiment_mesh(config);
  PlatformConfig platform = config.platform;
  if (platform.cpu_device_count == 0) platform.cpu_device_count = mesh.num_devices();
  return std::make_shared<DeviceMesh>(open_client(platform), mesh);
}

Target target_of(const DeviceMesh& mesh, const PlatformConfig& platform) {
  const std::string name = mesh.client().platform_name();
  Target target{.partitioned = mesh.num_devices() > 1};
  if (name == "tpu") target.platform = Target::Platform::kTpu;
  if (name != "tpu" && name != "cpu" && name != "Host") target.platform = Target::Platform::kGpu;
  const bool kernels =
      platform.kernels && target.platform == Target::Platform::kCpu && register_kernels(*mesh.client().plugin());
  return kernels ? with_kernels(target) : target;
}

}  // namespace

Session::Session(const ExperimentConfig& config) : config_(config), mesh_(open_mesh(config)) {}

std::shared_ptr<const Program> Session::compile(const TracedProgram& traced, std::string_view name) {
  const auto lowered = lower(*traced.graph, target_of(*mesh_, config_.platform));
  return std::make_shared<Program>(mesh_, program_text(*lowered, mesh_->mesh(), name), cache_);
}

DeviceTree Session::batch_to_device(const HostTree& batch) const {
  DeviceTree inputs;
  for (const auto& [name, array] : batch) {
    Sharding sharding{std::vector<std::vector<std::string>>(static_cast<size_t>(array.shape().rank()))};
    if (array.shape().rank() > 0) sharding.dims[0] = config_.task.train.batch_split;
    sharding = fit(std::move(sharding), array.shape(), mesh_->mesh());
    inputs.emplace("batch/" + name, DeviceArray::put(mesh_, array, std::move(sharding), HostTransfer::kZeroCopy));
  }
  return inputs;
}

DeviceTree Session::state_to_device(const HostTree& state, const std::vector<StateEntry>& entries) const {
  DeviceTree out;
  for (const StateEntry& entry : entries) {
    const auto at = state.find(entry.name);
    if (at == state.end()) fail<RuntimeError>("the state has no {} {}", entry.name, to_string(entry.type));
    out.emplace(entry.name, DeviceArray::put(mesh_, at->second, fit(entry.sharding, entry.type.shape, mesh_->mesh())));
  }
  return out;
}

}  // namespace pax
