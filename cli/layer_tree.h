#pragma once

#include <string>
#include <vector>

#include "pax/ir/sharding.h"
#include "pax/task/steps.h"

namespace pax::cli {

/// A layer and what lies in it. Sums include the layers below.
struct LayerRow {
  std::string name;       ///< its own: "ff_layer"
  std::string variables;  ///< its own variables: "w f32[768,3072], b f32[3072]"
  int64_t num_params = 0;
  double bytes_per_device = 0;  ///< of its weights, split as the mesh has it
  double flops = 0;             ///< of a training step
  std::vector<LayerRow> below;
};

/// The tree of the layers that `eval`, the traced evaluation step, was built from.
LayerRow layer_tree(const TracedProgram& eval, const Mesh& mesh);

/// One line a layer, indented.
std::string layer_text(const LayerRow& root);

/// A page of its own: the tree with bars, which folds.
std::string layer_page(const LayerRow& root, const std::string& title, const std::string& summary);

}  // namespace pax::cli
