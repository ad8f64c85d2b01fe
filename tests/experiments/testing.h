#pragma once

#include <string>

#include "pax/experiments/registry.h"
#include "pax/task/steps.h"
#include "pax/trainer/experiment.h"

namespace pax {

/// "a.b.C" as a test may be called: "a_b_C".
inline std::string test_name(std::string name) {
  for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
}

inline std::vector<std::string> experiment_names() {
  const config::Registry registry = make_registry();
  std::vector<std::string> names;
  for (const config::ConfigType* type : registry.implementing(config::type_name<Experiment>())) {
    names.emplace_back(type->name);
  }
  return names;
}

inline Tpl<Experiment> preset(const std::string& name, const config::Registry& registry) {
  const config::ConfigType& type = registry.find_for<Experiment>(name);
  return Tpl<Experiment>::from(
      config::AnyTpl(std::make_shared<config::Node>(config::Node{&type, type.make(), nullptr})));
}

/// Weights of the collection `params`, counted without building any.
inline int64_t count_params(const SingleTask& task) {
  int64_t total = 0;
  const TracedProgram declared = declare_state(task);
  for (const Param& param : declared.params) {
    if (param.spec.collection == Collection::kParams) total += param.spec.stored_type().shape.num_elements();
  }
  return total;
}

/// Makes the experiment small enough to train two steps on a CPU, its structure kept.
inline void shrink(Tpl<Experiment>& preset) {
  const bool pipelined = preset.get_or<std::optional<int64_t>>("NUM_STAGES", std::nullopt).has_value();
  const int64_t turns = preset.get_or<int64_t>("CIRCULAR_REPEAT", 1);
  for (const char* mesh : {"ICI_MESH_SHAPE", "DCN_MESH_SHAPE", "MESH_SHAPE"}) {
    if (!preset.has_field(mesh)) continue;
    std::vector<int64_t> ones(preset.get<std::vector<int64_t>>(mesh).size(), 1);
    if (pipelined && std::string_view(mesh) == "ICI_MESH_SHAPE") ones[0] = 2;
    preset.set(mesh, ones);
  }
  if (pipelined) preset.set("NUM_STAGES", int64_t{2});
  preset.try_set("NUM_LAYERS", pipelined ? 4 * turns : int64_t{2});
  preset.try_set("NUM_MICROBATCHES", std::nullopt);
  preset.try_set("MICROBATCH_SIZE", int64_t{2});
  for (const char* head : {"NUM_HEADS", "NUM_KV_HEADS"}) preset.try_set(head, int64_t{2});
  preset.try_set("DIMS_PER_HEAD", int64_t{4});
  preset.try_set("MODEL_DIMS", int64_t{8});
  preset.try_set("HIDDEN_DIMS", int64_t{16});
  preset.try_set("VOCAB_SIZE", int64_t{32});
  preset.try_set("MAX_SEQ_LEN", int64_t{16});
  preset.try_set("TRAINABLE_PE_MAX_SEQ_LEN", int64_t{16});
  preset.try_set("PERCORE_BATCH_SIZE", pipelined ? 4.0 : 2.0);
  preset.try_set("NUM_EXPERTS", int64_t{2});
  preset.try_set("NUM_GROUPS", int64_t{1});
  preset.try_set("IMAGE_SIZE", int64_t{32});
  for (const char* rows : {"TRAIN_BATCH_SIZE", "BATCH_SIZE"}) preset.try_set(rows, int64_t{4});
  for (const char* dim : {"INPUT_DIM", "HIDDEN_DIM", "OUTPUT_DIM"}) preset.try_set(dim, int64_t{32});
}

}  // namespace pax
