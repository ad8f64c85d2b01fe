#include "pax/params/initial_state.h"

#include "pax/base/hash.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/random.h"

namespace pax {

namespace {

/// Keys with the dimensions `prefix` before their last.
Tensor key_of_each_repetition(Tensor key, const std::vector<int64_t>& prefix) {
  const int64_t batch = key.rank() - 1;
  std::vector<int64_t> dims(key.shape().begin(), key.shape().end() - 1);
  dims.insert(dims.end(), prefix.begin(), prefix.end());
  std::vector<int64_t> from;
  for (int64_t i = 0; i < batch; ++i) from.push_back(i);
  from.push_back(static_cast<int64_t>(dims.size()));
  key = broadcast_in_dim(key, Shape{2}.prefixed(dims), from);
  for (size_t i = 0; i < prefix.size(); ++i) {
    key = fold_in(key, iota(key.graph(), {DType::kS32, Shape(dims)}, batch + static_cast<int64_t>(i)));
  }
  return key;
}

}  // namespace

Tensor initial_value(const Param& param, Tensor key) {
  const ParamSpec& spec = param.spec;
  Graph& graph = key.graph();
  const Graph::PathGuard path(graph, param.path);
  key = fold_in(key, static_cast<uint32_t>(hash64(param.state_name())));
  if (!spec.repeat_prefix.empty()) key = key_of_each_repetition(key, spec.repeat_prefix);
  return initial_values(*spec.init, key, {*spec.dtype, spec.shape}, spec.fan_in_axes, spec.fan_out_axes);
}

Tree<Tensor> initial_values(const std::deque<Param>& params, Tensor key) {
  Tree<Tensor> values;
  for (const Param& param : params) values[param.state_name()] = initial_value(param, key);
  return values;
}

}  // namespace pax
