#pragma once

#include <filesystem>

#include "pax/interop/huggingface/family.h"
#include "pax/interop/huggingface/weight_files.h"

namespace pax::hf {

/// A Hugging Face model as one of ours: its config and the values of its variables.
struct ImportedModel {
  Tpl<BaseModel> model;
  HostTree variables;               ///< by state name: "params/lm/..."
  WeightMap weights;                ///< how they came from the files
  std::vector<std::string> unused;  ///< tensors of the files that the model has no use for
};

struct ImportOptions {
  bool repeat_layers = true;
};

/// The model that a config.json describes, without weights. `has_head` as in PlanOptions.
ModelPlan plan_of(const HfConfig& config, const PlanOptions& options = {});

/// The names and types of a model's variables. Nothing is computed.
Tree<TensorType> variables_of(const Tpl<BaseModel>& model);

/// Reads config and weights. Throws ConfigError for what the config asks for and we do not have, RuntimeError for files
/// that do not fit it.
ImportedModel import_model(const HfConfig& config, const WeightFiles& files, const ImportOptions& options = {});

}  // namespace pax::hf
