#pragma once

#include <string>
#include <vector>

#include "pax/ir/graph.h"

namespace pax {

/// A function that the process has registered with the plugin, or that the plugin brings along.
struct CustomCall {
  std::string target;
  std::vector<TensorType> results;
  /// MLIR text of the attributes handed over: `{scale = 0.5 : f32}`, or a string in quotes for older interfaces.
  std::string config = "{}";
  /// 4: XLA's FFI.
  int64_t api_version = 4;
  bool has_side_effect = false;
  /// Further attributes, written as they are (layouts, aliases).
  Attrs attrs{};
};

/// The results of the call. It has no gradient and no batching: ops that lower to it give theirs.
std::vector<Tensor> custom_call(Graph& graph, std::vector<Tensor> operands, CustomCall call);

}  // namespace pax
