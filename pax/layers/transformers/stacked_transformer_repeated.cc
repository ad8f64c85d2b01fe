#include "pax/layers/transformers/stacked_transformer_repeated.h"

#include <fmt/format.h>

#include "pax/base/text.h"
#include "pax/control/scan.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

/// The name of a cached value of repetition `i`.
std::string of_turn(std::string_view name, int64_t i) { return fmt::format("{}#{}", name, i); }

}  // namespace

StackedTransformerRepeated::StackedTransformerRepeated(const Config& config, const Scope& scope)
    : TransformerStack(config, scope),
      config_(config),
      loop_(this->scope(),
            {.times = config.x_times,
             .nd_prefix_shape = config.nd_prefix_shape,
             .checkpoint_policy = config.checkpoint_policy,
             .split = weight_split("block").empty() ? std::vector<std::string>{} : weight_split("block")[0]}) {
  const std::string name = block_path("");
  const Graph::PathGuard path(graph(), name);
  block_ = Child<TransformerStack>(name, config.block.build(loop_.inside(this->scope().child(name))));
}

std::string StackedTransformerRepeated::block_path(std::string_view above) const {
  return join_path(above, join_path(config_.repeat_layer_name, config_.sublayer_name));
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
  for (size_t k = 0; k < cached.size(); ++k) {
    const Tensor stacked = all.stacked[first_cached + k];
    for (int64_t i = 0; i < loop_.times(); ++i) (*inputs.cache)[of_turn(cached[k], i)] = index_dim(stacked, 0, i);
  }
  return config_.return_intermediate_outputs ? all.stacked[0] : all.last;
}

Tensor StackedTransformerRepeated::extend_step(const StackStep& step) const {
  if (step.cache == nullptr) fail("a step needs the cache that the forward pass filled");
  const std::string inside = block_path(scope().path()) + "/";
  Tensor x = step.x_bd;
  for (int64_t i = 0; i < loop_.times(); ++i) {
    // The layers know their values without the number of the repetition.
    DecodeCache own;
    const std::string ending = of_turn("", i);
    for (auto at = step.cache->lower_bound(inside); at != step.cache->end() && at->first.starts_with(inside); ++at) {
      if (at->first.ends_with(ending)) own[at->first.substr(0, at->first.size() - ending.size())] = at->second;
    }
    const std::vector<Tensor> results = write_iteration(graph(), loop_.turn(i), [&] {
      StackStep turn = step;
      turn.x_bd = x;
      turn.cache = &own;
      std::vector<Tensor> out{block_->extend_step(turn)};
      for (const auto& [name, value] : own) out.push_back(value);
      return out;
    });
    x = results[0];
    size_t next = 1;
    for (const auto& [name, value] : own) (*step.cache)[of_turn(name, i)] = results[next++];
  }
  return x;
}

template const config::ConfigType& config::type_of<StackedTransformerRepeated::Config>();
template const config::ConfigType& config::type_of<PipelineCompatibleStackedTransformerRepeated::Config>();

}  // namespace pax
