#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pax/array/tree.h"
#include "pax/interop/huggingface/rearrange.h"

namespace pax::hf {

/// What of a tensor becomes (a part of) one variable, and how its dimensions are ordered there.
struct WeightPart {
  std::string variable;          ///< "params/lm/softmax/w"
  std::vector<int64_t> indices;  ///< Where in the variable's leading dimensions: repetition, expert.
  std::string pattern;           ///< "(n h) d -> d n h"
  /// Part of a tensor that holds several variables one after the other: `size` slices of dimension `axis` from `start`.
  int64_t axis = -1, start = 0, size = 0;
  /// Part of a tensor that holds several interlaced: entry `pick` of the first dimension that the pattern gives.
  int64_t pick = -1;
};

/// A tensor of the file and what it becomes.
struct WeightRow {
  std::string tensor;
  std::vector<WeightPart> parts;
};

/// The whole correspondence of a model.
struct WeightMap {
  std::vector<WeightRow> rows;
  Sizes sizes;
  /// Tensors may come without it (checkpoints of the model without a head): "model.".
  std::string prefix;
  /// Ends of names of tensors that say nothing new: mask buffers, copies of tied weights.
  std::vector<std::string> ignored;
};

/// Gives a tensor of the file by name.
using TensorSource = std::function<HostArray(std::string_view)>;

/// The variables `types` from tensors, element types converted. `names` are the tensors that there are; those that no
/// row wants go into `unused`. Throws one RuntimeError naming every tensor that is missing, and one naming tensor and
/// both shapes for each that does not fit.
HostTree import_weights(const WeightMap& map, const Tree<TensorType>& types, const Tree<TensorType>& names,
                        const TensorSource& tensor, std::vector<std::string>& unused);

/// The tensors from variables: what `import_weights` was given, in the variables' element types.
HostTree export_weights(const WeightMap& map, const HostTree& variables);

}  // namespace pax::hf
