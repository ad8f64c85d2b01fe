#include "pax/params/initial_state.h"

#include "pax/base/hash.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/random.h"

namespace pax {

Tensor initial_value(const Param& param, Tensor key) {
  const ParamSpec& spec = param.spec;
  Graph& graph = key.graph();
  const Graph::PathGuard path(graph, param.path);
  key = fold_in(key, static_cast<uint32_t>(hash64(param.state_name())));
  if (!spec.repeat_prefix.empty()) {
    const Shape prefix(spec.repeat_prefix);
    key = broadcast_to(key, Shape{2}.prefixed(spec.repeat_prefix));
    for (int64_t i = 0; i < prefix.rank(); ++i) key = fold_in(key, iota(graph, {DType::kS32, prefix}, i));
  }
  return initial_values(*spec.init, key, {*spec.dtype, spec.shape}, spec.fan_in_axes, spec.fan_out_axes);
}

Tree<Tensor> initial_values(const std::deque<Param>& params, Tensor key) {
  Tree<Tensor> values;
  for (const Param& param : params) values[param.state_name()] = initial_value(param, key);
  return values;
}

}  // namespace pax
