#include "pax/layers/adapters.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/reshape.h"

namespace pax {

MultitaskResidualAdapter::MultitaskResidualAdapter(const Config& config, const Scope& scope)
    : Layer(config, scope), num_tasks_(config.num_tasks) {
  const int64_t tasks = config.num_tasks, wide = config.input_dims, narrow = config.bottleneck_dims;
  if (config.norm_tpl) {
    Tpl<BaseNormalization> norm = config.norm_tpl.clone();
    norm.set("dim", wide);
    norm_ = child("norm", norm);
  }
  down_w_ = param("down_w", {.shape = {tasks, wide, narrow}});
  down_b_ = param("down_b", {.shape = {tasks, narrow}});
  up_w_ = param("up_w", {.shape = {tasks, narrow, wide}, .init = WeightInit::constant(0.0)});
  up_b_ = param("up_b", {.shape = {tasks, wide}});
  activation_ = child("activation", config.activation_tpl);
}

Tensor MultitaskResidualAdapter::residual(const AdapterInputs& inputs) const {
  const Tensor x = inputs.x;
  if (x.rank() < 2) fail(fmt::format("input is {}; it must be [B, ..., input_dims]", to_string(x.type())));
  Tensor tasks = inputs.tasks;
  if (!tasks && num_tasks_ != 1) fail(fmt::format("no tasks are given, but num_tasks is {}", num_tasks_));
  if (!tasks) tasks = full(graph(), {DType::kS32, x.shape().without(-1)}, 0.0);
  const int64_t missing = x.rank() - tasks.rank();
  if (missing < 1 || missing > 2) {
    fail(fmt::format("tasks are {} but the input is {}; they must have all of its dimensions but the last one or two",
                     to_string(tasks.type()), to_string(x.type())));
  }
  const Tensor hot = one_hot(tasks, num_tasks_, x.dtype());
  // One weight an example, or one a position; in the first case positions broadcast.
  const auto chosen = [&](std::string_view equation, Tensor weights, int64_t rank, int64_t at) {
    const Tensor w = einsum(equation, hot, weights);
    return w.rank() < rank ? expand_dims(w, at) : w;
  };
  const Tensor down_w = chosen("...k,kin->...in", down_w_, x.rank() + 1, -3);
  const Tensor down_b = chosen("...k,kn->...n", down_b_, x.rank(), -2);
  const Tensor up_w = chosen("...k,kni->...ni", up_w_, x.rank() + 1, -3);
  const Tensor up_b = chosen("...k,ki->...i", up_b_, x.rank(), -2);

  const Tensor normed = norm_ ? norm_->fprop(x, inputs.paddings) : x;
  const Tensor down = activation_->fprop(einsum("...i,...in->...n", normed, down_w) + down_b);
  return einsum("...n,...ni->...i", down, up_w) + up_b;
}

Tensor MultitaskResidualAdapter::inputs_plus(const AdapterInputs& inputs) const { return inputs.x + residual(inputs); }

std::span<const std::pair<AdapterMode, std::string_view>> enum_names(AdapterMode) {
  static constexpr std::pair<AdapterMode, std::string_view> kNames[] = {{AdapterMode::kSequential, "sequential"},
                                                                        {AdapterMode::kParallel, "parallel"}};
  return kNames;
}

AdaptedTransformerFeedForward::AdaptedTransformerFeedForward(const Config& config, const Scope& scope)
    : TransformerFfn(config, scope),
      ffn_(config, scope),
      add_skip_connection_(config.add_skip_connection),
      residual_weight_(config.residual_weight),
      mode_(config.mode) {
  if (!config.adapter_tpl) pax::fail<ConfigError>("{}: adapter_tpl is not set", scope.path());
  if (config.residual_droppath_prob > 0) {
    pax::fail<ConfigError>("{}: residual_droppath_prob is {}; with an adapter it must be 0", scope.path(),
                           config.residual_droppath_prob);
  }
  adapters_ = child("adapters", config.adapter_tpl);
}

Tensor AdaptedTransformerFeedForward::fprop(const FeedForwardInputs& inputs, Tensor tasks) const {
  Tensor y = ffn_.fprop(inputs);
  // The adapter comes before the residual connection, which is taken off here and put back on.
  if (add_skip_connection_) y = (y - inputs.x) / residual_weight_;
  const Tensor into = mode_ == AdapterMode::kSequential ? y : inputs.x;
  const Tensor adapted = adapters_->residual({.x = into, .paddings = inputs.paddings, .tasks = tasks});
  y = adapted + y;
  return add_skip_connection_ ? inputs.x + y * residual_weight_ : y;
}

template const config::ConfigType& config::type_of<MultitaskResidualAdapter::Config>();
template const config::ConfigType& config::type_of<AdaptedTransformerFeedForward::Config>();

}  // namespace pax
