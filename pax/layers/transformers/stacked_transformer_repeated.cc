#include "pax/layers/transformers/stacked_transformer_repeated.h"

#include "pax/base/text.h"

namespace pax {

StackedTransformerRepeated::StackedTransformerRepeated(const Config& config, const Scope& scope)
    : TransformerStack(config, scope),
      config_(config),
      loop_(this->scope(),
            {.times = config.x_times,
             .nd_prefix_shape = config.nd_prefix_shape,
             .checkpoint_policy = config.checkpoint_policy,
             .split = weight_split("block").empty() ? std::vector<std::string>{} : weight_split("block")[0]}) {
  const std::string name = join_path(config.repeat_layer_name, config.sublayer_name);
  const Graph::PathGuard path(graph(), name);
  block_ = Child<TransformerStack>(name, config.block.build(loop_.inside(this->scope().child(name))));
}

Tensor StackedTransformerRepeated::fprop(const StackInputs& inputs) const {
  std::vector<std::string> cached;  // Names of what the layers leave in the cache, in the order of the results.
  const RepeatLoop::Results all = loop_.run(inputs.x_btd, [&](Tensor x) {
    DecodeCache own;
    StackInputs step = inputs;
    step.x_btd = x;
    step.cache = inputs.cache == nullptr ? nullptr : &own;
    std::vector<Tensor> results{block_->fprop(step)};
    if (config_.return_intermediate_outputs) results.push_back(results[0]);
    cached.clear();
    for (const auto& [name, value] : own) {
      cached.push_back(name);
      results.push_back(value);
    }
    return results;
  });
  const size_t first_cached = config_.return_intermediate_outputs ? 1 : 0;
  for (size_t i = 0; i < cached.size(); ++i) (*inputs.cache)[cached[i]] = all.stacked[first_cached + i];
  return config_.return_intermediate_outputs ? all.stacked[0] : all.last;
}

Tensor StackedTransformerRepeated::extend_step(const StackStep& step) const {
  return TransformerStack::extend_step(step);
}

}  // namespace pax
