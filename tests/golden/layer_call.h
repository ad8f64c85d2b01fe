#pragma once

#include "pax/layers/layer.h"
#include "tests/golden/case.h"

namespace pax::golden {

/// How a recorded case calls its layer or function: the arguments, and the text of the call.
struct LayerCall {
  const RecordedCase& recorded;
  Graph& graph;
  Tree<Tensor> inputs;  ///< by the names after `in/`

  /// Null when it is not recorded.
  Tensor in(std::string_view name) const;
  /// As `in`, as bool: nonzero is true.
  Tensor in_bool(std::string_view name) const;
  /// The first input that is there; throws RuntimeError when none is.
  Tensor first() const;
  std::string_view text() const { return recorded.text("call"); }
  /// The integer after "name=" in the text of the call.
  std::optional<int64_t> number(std::string_view name) const;
};

/// Results by the names after `out/`.
using Outputs = Tree<Tensor>;

/// Calls a layer by the interface that it has.
struct LayerBinder {
  bool (*fits)(const Layer& layer);
  Outputs (*call)(const Layer& layer, const LayerCall& call);
};
/// The binder of layers that are a `T`.
template <class T, Outputs (*Call)(const T&, const LayerCall&)>
constexpr LayerBinder binder() {
  return {[](const Layer& layer) {
            const T* as_t = dynamic_cast<const T*>(&layer);
            return as_t != nullptr;
          },
          [](const Layer& layer, const LayerCall& call) { return Call(dynamic_cast<const T&>(layer), call); }};
}

/// Functions that are not layers, by their Praxis name.
struct FunctionBinder {
  std::string_view name;
  Outputs (*call)(const LayerCall& call);
};

// The binders of each part.
std::span<const LayerBinder> attention_binders();
std::span<const LayerBinder> basic_binders();
std::span<const LayerBinder> model_binders();
std::span<const LayerBinder> rnn_binders();
std::span<const LayerBinder> vision_binders();
std::span<const FunctionBinder> mask_functions();
std::span<const FunctionBinder> rnn_functions();
std::span<const FunctionBinder> basic_functions();

/// Calls `layer` by the first binder that fits. Throws RuntimeError when none does.
Outputs call_layer(const Layer& layer, const LayerCall& call);
/// Calls the function of that name. Throws RuntimeError when there is none.
Outputs call_function(std::string_view name, const LayerCall& call);

}  // namespace pax::golden
