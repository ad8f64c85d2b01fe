#include "pax/trainer/mesh.h"

#include <algorithm>

#include "pax/base/error.h"

namespace pax {

MeshShape mesh_shape(const ExperimentConfig& config) {
  const auto sizes = [&](const char* field) {
    return config.task.model.get<std::optional<std::vector<int64_t>>>(field).value_or(std::vector<int64_t>{});
  };
  MeshShape shape;
  shape.axes = config.task.model.get<std::optional<std::vector<std::string>>>("mesh_axis_names")
                   .value_or(std::vector<std::string>{});
  shape.ici = sizes("ici_mesh_shape");
  if (shape.ici.empty()) return {};
  if (shape.axes.size() != shape.ici.size()) {
    fail<ConfigError>("task.model.ici_mesh_shape has {} sizes but mesh_axis_names has {} names; give each axis one",
                      shape.ici.size(), shape.axes.size());
  }
  shape.dcn = sizes("dcn_mesh_shape");
  if (!shape.dcn.empty() && shape.dcn.size() != shape.ici.size()) {
    fail<ConfigError>("task.model.dcn_mesh_shape has {} sizes but ici_mesh_shape has {}; give each axis one",
                      shape.dcn.size(), shape.ici.size());
  }
  shape.dcn.resize(shape.ici.size(), 1);
  for (size_t i = 0; i < shape.axes.size(); ++i) {
    if (shape.ici[i] < 1 || shape.dcn[i] < 1) {
      fail<ConfigError>("task.model.{}_mesh_shape: axis {} has size {}", shape.ici[i] < 1 ? "ici" : "dcn",
                        shape.axes[i], std::min(shape.ici[i], shape.dcn[i]));
    }
  }
  return shape;
}

Mesh experiment_mesh(const ExperimentConfig& config) {
  const MeshShape shape = mesh_shape(config);
  Mesh mesh{.axes = shape.axes, .sizes = shape.ici};
  for (size_t i = 0; i < mesh.sizes.size(); ++i) mesh.sizes[i] *= shape.dcn[i];
  return mesh;
}

}  // namespace pax
