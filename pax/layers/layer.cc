#include "pax/layers/layer.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/identity.h"

namespace pax {
namespace {

Inherited resolve(const LayerConfig& config, Inherited from) {
  if (config.dtype) from.dtype = *config.dtype;
  if (config.fprop_dtype) from.fprop_dtype = *config.fprop_dtype;
  if (config.params_init) from.params_init = *config.params_init;
  if (config.skip_lp_regularization) from.skip_lp_regularization = *config.skip_lp_regularization;
  if (config.mesh_axis_names) from.mesh_axis_names = *config.mesh_axis_names;
  return from;
}

std::vector<std::vector<std::string>> axes_of(const std::map<std::string, SplitDims>& mapping, std::string_view name) {
  std::vector<std::vector<std::string>> axes;
  const auto at = mapping.find(std::string(name));
  if (at == mapping.end() || !at->second) return axes;
  for (const DimSplit& dim : *at->second) {
    std::vector<std::string> names;
    if (dim && dim->index() == 0) names.push_back(std::get<0>(*dim));
    if (dim && dim->index() == 1) names = std::get<1>(*dim);
    axes.push_back(std::move(names));
  }
  return axes;
}

}  // namespace

Layer::Layer(const LayerConfig& config, const Scope& scope)
    : scope_(scope.with(resolve(config, scope.inherited()))),
      weight_split_(config.weight_split_dims_mapping),
      activation_split_(config.activation_split_dims_mapping) {}

Tensor Layer::fprop(Tensor) const { fail("this layer does not take one input and give one output"); }

std::vector<std::vector<std::string>> Layer::weight_split(std::string_view name) const {
  return axes_of(weight_split_, name);
}

std::vector<std::vector<std::string>> Layer::activation_split(std::string_view name) const {
  return axes_of(activation_split_, name);
}

Tensor Layer::shard(Tensor x, std::string_view name) const {
  std::vector<std::vector<std::string>> axes = activation_split(name);
  return axes.empty() ? x : sharding_constraint(x, Sharding{std::move(axes)});
}

Tensor Layer::shard_out(Tensor x) const {
  if (x.rank() != 2) return shard(x, "out");
  std::vector<std::vector<std::string>> axes = axes_of(activation_split_, "extend_step_out");
  if (axes.size() != 2) axes = axes_of(activation_split_, "out");
  if (axes.size() == 3) axes.erase(axes.begin() + 1);
  return axes.empty() ? x : sharding_constraint(x, Sharding{std::move(axes)});
}

void Layer::fail(std::string_view message) const { pax::fail<ShapeError>("{}: {}", scope_.path(), message); }

}  // namespace pax
