#include "tests/golden/layer_call.h"

#include <charconv>

#include "pax/base/error.h"
#include "pax/ops/logic.h"

namespace pax::golden {

Tensor LayerCall::in(std::string_view name) const {
  const auto at = inputs.find(name);
  return at == inputs.end() ? Tensor() : at->second;
}

Tensor LayerCall::in_bool(std::string_view name) const {
  const Tensor x = in(name);
  return x ? ne(x, 0.0) : x;
}

Tensor LayerCall::first() const {
  if (inputs.empty()) fail<RuntimeError>("no input is recorded");
  return inputs.begin()->second;
}

std::optional<int64_t> LayerCall::number(std::string_view name) const {
  const std::string key = std::string(name) + "=";
  const std::string_view text = this->text();
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  int64_t value = 0;
  const char* begin = text.data() + at + key.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

Outputs call_layer(const Layer& layer, const LayerCall& call) {
  for (const std::span<const LayerBinder> part :
       {attention_binders(), model_binders(), vision_binders(), rnn_binders(), basic_binders()}) {
    for (const LayerBinder& binder : part) {
      if (binder.fits(layer)) return binder.call(layer, call);
    }
  }
  fail<RuntimeError>("no binder for layers of this interface");
}

Outputs call_function(std::string_view name, const LayerCall& call) {
  for (const std::span<const FunctionBinder> part : {mask_functions(), rnn_functions(), basic_functions()}) {
    for (const FunctionBinder& function : part) {
      if (function.name == name) return function.call(call);
    }
  }
  fail<RuntimeError>("there is no layer or function {}", name);
}

}  // namespace pax::golden
