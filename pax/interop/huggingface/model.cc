#include "pax/interop/huggingface/model.h"

#include <algorithm>

#include "pax/base/error.h"
#include "pax/task/steps.h"

namespace pax::hf {
namespace {

/// Whether the files have an output layer of their own, not a copy of the embedding.
bool has_own_head(const Family& family, const WeightFiles& files) {
  if (family.head_tensor.empty() || !files.types().contains(family.head_tensor)) return false;
  if (!files.types().contains(family.embedding_tensor)) return true;
  const HostArray head = files.read(family.head_tensor), embedding = files.read(family.embedding_tensor);
  return head.type() != embedding.type() || !std::ranges::equal(head.bytes(), embedding.bytes());
}

}  // namespace

ModelPlan plan_of(const HfConfig& config, const PlanOptions& options) {
  return family_of(config).plan(config, options);
}

Tree<TensorType> variables_of(const Tpl<BaseModel>& model) {
  SingleTask task;
  task.model = model;
  Graph graph;
  ModelTrace trace(graph, ModelTrace::Mode::kEval);
  build_model(task, trace);
  Tree<TensorType> types;
  for (const Param& param : trace.params()) types[param.state_name()] = param.spec.stored_type();
  return types;
}

ImportedModel import_model(const HfConfig& config, const WeightFiles& files, const ImportOptions& options) {
  const bool has_head = has_own_head(family_of(config), files);
  const ModelPlan plan = plan_of(config, {.repeat_layers = options.repeat_layers, .has_head = has_head});
  ImportedModel out{.model = plan.model, .variables = {}, .weights = {}, .unused = {}};
  const Tree<TensorType> types = variables_of(plan.model);
  out.weights = weight_map(plan, types);
  out.variables = import_weights(
      out.weights, types, files.types(), [&](std::string_view name) { return files.read(name); }, out.unused);
  return out;
}

}  // namespace pax::hf
