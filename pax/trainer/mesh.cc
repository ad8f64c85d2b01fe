#include "pax/trainer/mesh.h"

#include "pax/base/error.h"

namespace pax {

Mesh experiment_mesh(const ExperimentConfig& config) {
  const auto sizes = [&](const char* field) {
    return config.task.model.get<std::optional<std::vector<int64_t>>>(field).value_or(std::vector<int64_t>{});
  };
  Mesh mesh;
  mesh.axes = config.task.model.get<std::optional<std::vector<std::string>>>("mesh_axis_names")
                  .value_or(std::vector<std::string>{});
  mesh.sizes = sizes("ici_mesh_shape");
  if (mesh.sizes.empty()) return {};
  if (mesh.axes.size() != mesh.sizes.size()) {
    fail<ConfigError>("task.model.ici_mesh_shape has {} sizes but mesh_axis_names has {} names; give each axis one",
                      mesh.sizes.size(), mesh.axes.size());
  }
  const std::vector<int64_t> slices = sizes("dcn_mesh_shape");
  if (!slices.empty() && slices.size() != mesh.sizes.size()) {
    fail<ConfigError>("task.model.dcn_mesh_shape has {} sizes but ici_mesh_shape has {}; give each axis one",
                      slices.size(), mesh.sizes.size());
  }
  for (size_t i = 0; i < slices.size(); ++i) mesh.sizes[i] *= slices[i];
  for (size_t i = 0; i < mesh.sizes.size(); ++i) {
    if (mesh.sizes[i] < 1)
      fail<ConfigError>("task.model.ici_mesh_shape: axis {} has size {}", mesh.axes[i], mesh.sizes[i]);
  }
  return mesh;
}

}  // namespace pax
