#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pax/ir/sharding.h"
#include "pax/params/weight_init.h"

namespace pax {

/// Which table a variable lives in: the first part of its path in the training state and in checkpoints.
enum class Collection : uint8_t { kParams, kNonTrainable, kDecoderCache };
/// "params", "non_trainable", "decoder_cache".
std::string_view collection_name(Collection collection);

/// Pax's variable tags (WeightHParamsCollection) that change what others do with a weight.
struct ParamTags {
  bool skip_lp_regularization = false;        ///< no L1, L2, decoupled decay
  bool disallow_bfloat16_conversion = false;  ///< stays in its own type in the forward pass
  bool overwrite_with_gradient = false;       ///< the gradient is the new value (fp8 scales)
};

/// All that is known of one variable (praxis WeightHParams).
struct ParamSpec {
  Shape shape;                       ///< of one layer, without `repeat_prefix`
  std::optional<WeightInit> init{};  ///< absent: the layer's `params_init`
  std::optional<DType> dtype{};      ///< absent: the layer's `dtype`
  /// Mesh axes a dimension is split over (Pax: tensor_split_dims_mapping); empty: not split.
  std::vector<std::vector<std::string>> split{};
  Collection collection = Collection::kParams;
  ParamTags tags{};
  std::vector<int64_t> fan_in_axes{};
  std::vector<int64_t> fan_out_axes{};
  std::vector<int64_t> repeat_prefix{};  ///< filled by Scope: leading dimensions added by repeated layers

  /// The variable's type as it is stored: prefix and shape.
  TensorType stored_type() const { return {*dtype, shape.prefixed(repeat_prefix)}; }
};

/// A variable that a model has declared.
struct Param {
  std::string path;  ///< within its collection: `lm/transformer/repeat/sub/x_layers_0/ff_layer/…`
  ParamSpec spec;    ///< init and dtype resolved
  Tensor value;      ///< the program's input, of stored_type()

  /// `params/lm/…`: the name in the training state.
  std::string state_name() const;
};

}  // namespace pax
