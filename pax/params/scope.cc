#include "pax/params/scope.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/base/text.h"
#include "pax/control/scan.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"

namespace pax {
namespace {

/// The number of the present repetition, outside of the loop: its slices are 0, 1, 2, …
Tensor repetition_index(Graph& graph, int64_t times, int64_t loop) {
  return each_iteration(iota(graph, {DType::kS32, {times}}, 0), loop);
}

}  // namespace

const Param* ModelTrace::find(std::string_view state_name) const {
  const auto at = by_name_.find(std::string(state_name));
  return at == by_name_.end() ? nullptr : at->second;
}

int64_t ModelTrace::num_params() const {
  int64_t count = 0;
  for (const Param& param : params_) {
    if (param.spec.collection == Collection::kParams) count += param.spec.stored_type().shape.num_elements();
  }
  return count;
}

Scope Scope::child(std::string_view name) const {
  Scope scope = *this;
  scope.path_ = join_path(path_, name);
  return scope;
}

Scope Scope::with(Inherited inherited) const {
  Scope scope = *this;
  scope.inherited_ = std::move(inherited);
  return scope;
}

Scope Scope::repeated(int64_t times, int64_t loop, std::vector<std::string> split) const {
  Scope scope = *this;
  Tensor index = repetition_index(graph(), times, loop);
  scope.repeats_.push_back({times, loop, std::move(split), index});
  return scope;
}

Tensor Scope::param(std::string_view name, ParamSpec spec) const {
  if (!spec.init) spec.init = inherited_.params_init;
  if (!spec.dtype) spec.dtype = inherited_.dtype;
  spec.tags.skip_lp_regularization = spec.tags.skip_lp_regularization || inherited_.skip_lp_regularization;
  std::vector<std::vector<std::string>> split;
  for (const Repeat& repeat : repeats_) {
    spec.repeat_prefix.push_back(repeat.times);
    split.push_back(repeat.split);
  }
  spec.split.resize(static_cast<size_t>(spec.shape.rank()));
  spec.split.insert(spec.split.begin(), split.begin(), split.end());
  Param param{.path = join_path(path_, name), .spec = std::move(spec), .value = {}};
  const std::string state_name = param.state_name();
  if (trace_->by_name_.contains(state_name)) {
    fail<ConfigError>("{}: two layers declare this variable; give one of them another name", state_name);
  }
  param.value = graph().argument(state_name, param.spec.stored_type(), Sharding{param.spec.split});
  trace_->params_.push_back(param);
  trace_->by_name_[state_name] = &trace_->params_.back();

  Tensor value = param.value;
  if (is_floating(value.dtype()) && !param.spec.tags.disallow_bfloat16_conversion) {
    value = convert(value, inherited_.fprop_dtype);
  }
  for (const Repeat& repeat : repeats_) value = each_iteration(value, repeat.loop);
  return value;
}

Tensor Scope::random_key(int64_t index) const {
  if (!trace_->random_key) {
    fail<ShapeError>("{}: this layer draws random numbers but the program has no key (evaluation has none)", path_);
  }
  Tensor key = fold_in(trace_->random_key, static_cast<uint32_t>(hash64(path_)));
  if (index != 0) key = fold_in(key, static_cast<uint32_t>(index));
  for (const Repeat& repeat : repeats_) key = fold_in(key, repeat.index);
  return key;
}

void Scope::add_aux_loss(std::string_view name, Tensor value, Tensor weight) const {
  if (!weight) weight = full_like(value, 1.0);
  auto& sides = graph().block(graph().current_block()).sides;
  sides.push_back({"aux_loss", join_path(path_, name), value});
  sides.push_back({"aux_loss_weight", join_path(path_, name), weight});
}

void Scope::add_summary(std::string_view name, Tensor value) const { add_side_result("summary", name, value); }

void Scope::add_side_result(std::string_view channel, std::string_view name, Tensor value) const {
  graph().block(graph().current_block()).sides.push_back({std::string(channel), join_path(path_, name), value});
}

void Scope::update(std::string_view name, Tensor value) const {
  std::string state_name;
  for (const Collection collection : {Collection::kParams, Collection::kNonTrainable, Collection::kDecoderCache}) {
    state_name = join_path(collection_name(collection), join_path(path_, name));
    if (trace_->find(state_name) != nullptr) break;
    state_name.clear();
  }
  if (state_name.empty()) fail<ShapeError>("{}: no variable \"{}\" to update", path_, name);
  graph().block(graph().current_block()).sides.push_back({"update", state_name, value});
}

std::shared_ptr<void>& Scope::shared_instance(const config::SharedMark& mark) const {
  return trace_->shared_instances_[mark.id];
}

SideResults take_side_results(Graph& graph) {
  const auto scalar = [](Tensor value) {
    std::vector<int64_t> dims;
    for (int64_t i = 0; i < value.rank(); ++i) dims.push_back(i);
    return reduce_sum(value, dims);
  };
  SideResults out;
  auto sides = std::move(graph.block(graph.current_block()).sides);
  graph.block(graph.current_block()).sides.clear();
  for (SideResult& side : sides) {
    if (side.channel == "aux_loss") out.aux_losses.push_back({side.name, scalar(side.value), {}});
    if (side.channel == "aux_loss_weight") out.aux_losses.back().weight = scalar(side.value);
    if (side.channel == "summary") out.summaries.push_back({side.name, side.value});
    if (side.channel == "update") out.updates.push_back({side.name, side.value});
  }
  return out;
}

}  // namespace pax
