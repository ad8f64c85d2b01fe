#pragma once

#include <map>
#include <span>
#include <string_view>

#include "pax/interop/huggingface/hf_config.h"
#include "pax/interop/huggingface/weight_map.h"
#include "pax/task/base_model.h"

namespace pax::hf {

/// One line of a family's table: a tensor of the file, a variable of ours, and how dimensions go from one to the
/// other. In names `{}` is the layer's number and `{e}` an expert's; a variable begins with a place such as `{layer}`.
/// A line whose variable the model does not have says nothing: biases, norms, experts that a config leaves out.
struct TableRow {
  std::string_view tensor;
  std::string_view variable;
  std::string_view pattern;
  int axis = -1;  ///< the tensor holds the variables of all lines with its name, one after the other in this dimension
  int pick = -1;  ///< it holds them interlaced: see WeightPart
};

/// Where layers are: written out, or repeated with their weights stacked.
struct LayerPlaces {
  std::string stack;  ///< "params/lm/transformer"
  int64_t layers = 0;
  int64_t period = 0;  ///< layers of the repeated block; 0: written out
};

/// What a config.json and the names of the tensors say of a model.
struct ModelPlan {
  Tpl<BaseModel> model;
  std::vector<TableRow> table;
  std::map<std::string, LayerPlaces, std::less<>> places;  ///< by placeholder: "{layer}"
  int64_t experts = 0;
  Sizes sizes;
  std::string prefix;
  std::vector<std::string> ignored;
};

struct PlanOptions {
  /// Equal layers become one loop of the program.
  bool repeat_layers = true;
  /// The files have weights for the output layer that are not the embedding's.
  bool has_head = false;
};

/// Several tables as one.
std::vector<TableRow> rows_of(std::initializer_list<std::span<const TableRow>> tables);

/// A family of models.
struct Family {
  std::string_view model_type;
  ModelPlan (*plan)(const HfConfig& config, const PlanOptions& options);
  /// The output layer's weights, absent or equal to the embedding's when they are shared; "" when they never are.
  std::string_view head_tensor;
  std::string_view embedding_tensor;
};

/// Every family that can be imported.
std::span<const Family> families();

/// The family of a config. Throws ConfigError naming its model_type and those that are supported.
const Family& family_of(const HfConfig& config);

/// A plan's table written out for the variables `types` that its model declares.
WeightMap weight_map(const ModelPlan& plan, const Tree<TensorType>& types);

}  // namespace pax::hf
