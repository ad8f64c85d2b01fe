// How long it takes to build a layer from its config, trace it, lower it and write it as StableHLO: milliseconds of the
// fastest of some rounds, one JSON line a layer. Usage: layer_emission [PART...]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "pax/config/yaml.h"
#include "pax/ir/stablehlo.h"
#include "pax/ir/transform.h"
#include "pax/layers/registry.h"
#include "pax/layers/speech/conformer.h"
#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/layers/transformers/transformer.h"

namespace pax {
namespace {

constexpr int kRounds = 20;
constexpr int64_t kBatch = 8, kLength = 128, kWidth = 512;

struct Case {
  std::string_view name, config;
  TensorType input;
};

const TensorType kTokens{DType::kF32, {kBatch, kLength, kWidth}};
const TensorType kIds{DType::kS32, {kBatch, kLength}};
const TensorType kImages{DType::kF32, {kBatch, 32, 32, 64}};

const Case kCases[] = {
    {"Linear", "{__class__: Linear, input_dims: 512, output_dims: 512}", kTokens},
    {"FeedForward", "{__class__: FeedForward, input_dims: 512, output_dims: 512}", kTokens},
    {"MLPBlock", "{__class__: MLPBlock, ff_tpl: {__class__: FeedForward, input_dims: 512, output_dims: 512}}", kTokens},
    {"LayerNorm", "{__class__: LayerNorm, dim: 512}", kTokens},
    {"RmsNorm", "{__class__: RmsNorm, dim: 512}", kTokens},
    {"BatchNorm", "{__class__: BatchNorm, dim: 512}", kTokens},
    {"GroupNorm", "{__class__: GroupNorm, dim: 512, input_rank: 3}", kTokens},
    {"Embedding", "{__class__: Embedding, num_classes: 32000, input_dims: 512}", kIds},
    {"DotProductAttention", "{__class__: DotProductAttention, input_dim: 512, hidden_dim: 512, num_heads: 8}", kTokens},
    {"GroupedQueryAttention",
     "{__class__: GroupedQueryAttention, input_dim: 512, hidden_dim: 512, num_heads: 8, num_kv_heads: 2, dim_per_head: "
     "64, "
     "rope_min_max_timescales: [1, 10000]}",
     kTokens},
    {"LocalSelfAttention",
     "{__class__: LocalSelfAttention, input_dim: 512, hidden_dim: 512, num_heads: 8, block_size: 32, left_context: 33, "
     "right_context: 0}",
     kTokens},
    {"TransformerFeedForward", "{__class__: TransformerFeedForward, input_dims: 512, hidden_dims: 2048}", kTokens},
    {"TransformerFeedForwardMoe",
     "{__class__: TransformerFeedForwardMoe, input_dims: 512, hidden_dims: 2048, num_experts: 8, num_groups: 1}",
     kTokens},
    {"Transformer", "{__class__: Transformer, input_dims: 512, hidden_dims: 2048, num_heads: 8}", kTokens},
    {"Conformer", "{__class__: Conformer, input_dims: 512}", kTokens},
    {"SSM", "{__class__: SSM, nheads: 16, dim: 512, l_max: 128}", kTokens},
    {"Conv2D", "{__class__: Conv2D, filter_shape: [3, 3, 64, 64], filter_stride: [1, 1]}", kImages},
    {"ResNetBlock", "{__class__: ResNetBlock, input_dim: 64, output_dim: 64}", kImages},
    {"QuantizedLinear", "{__class__: praxis.layers.quantization.linears.Linear, input_dims: 512, output_dims: 512}",
     kTokens},
    {"TransformerLm",
     "{__class__: TransformerLm, vocab_size: 32000, model_dims: 512, stacked_transformer_tpl: {__class__: "
     "StackedTransformer, num_layers: 1, num_heads: 8, hidden_dims: 2048}}",
     kIds},
};

Tensor call(const Layer& layer, Tensor x) {
  Graph& graph = x.graph();
  const auto input = [&](std::string_view name, Shape shape) {
    return graph.argument(name, {DType::kF32, std::move(shape)});
  };
  if (const auto* attention = dynamic_cast<const Attention*>(&layer)) {
    const Tensor mask = input("mask", {1, 1, kLength, kLength});
    return attention->fprop({.query_btd = x, .key_bsd = x, .value_bsd = x, .mask = mask}).encoded_btd;
  }
  const Tensor paddings = input("paddings", {kBatch, kLength});
  if (const auto* transformer = dynamic_cast<const TransformerLayer*>(&layer)) {
    const Tensor mask = input("mask", {1, 1, kLength, kLength});
    return transformer->fprop({.x_btd = x, .paddings_bt = paddings, .mask = mask}).x_btd;
  }
  if (const auto* conformer = dynamic_cast<const Conformer*>(&layer)) return conformer->fprop(x, paddings, {});
  if (const auto* lm = dynamic_cast<const LanguageModelLayer*>(&layer)) {
    const Tensor labels = graph.argument("labels", kIds);
    return lm->fprop({.ids_bt = x, .paddings_bt = paddings}, {.class_ids_bt = labels, .class_weights_bt = paddings})
        .total_loss;
  }
  return layer.fprop(x);
}

/// Milliseconds from the config's text to the program's.
double once(const Case& from, const config::Registry& registry) {
  const auto start = std::chrono::steady_clock::now();
  Graph graph;
  ModelTrace trace(graph, ModelTrace::Mode::kTrain);
  const auto layer = config::parse<Layer>(from.config, registry).build(Scope(trace));
  graph.output("y", call(*layer, graph.argument("x", from.input)));
  const std::string text = to_stablehlo(*lower(graph, Target{.platform = Target::Platform::kCpu}));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return text.empty() ? 0.0 : took.count();
}

int run(std::span<char*> parts) {
  config::Registry registry;
  register_layers(registry);
  double slowest = 0;
  for (const Case& each : kCases) {
    const auto wanted = [&](const char* part) { return each.name.find(part) != std::string_view::npos; };
    if (!parts.empty() && std::ranges::none_of(parts, wanted)) continue;
    double best = once(each, registry);
    for (int i = 1; i < kRounds; ++i) best = std::min(best, once(each, registry));
    fmt::print("{{\"layer\": \"{}\", \"emission_ms\": {:.3f}}}\n", each.name, best);
    slowest = std::max(slowest, best);
  }
  fmt::print("{{\"layer\": \"slowest\", \"emission_ms\": {:.3f}}}\n", slowest);
  return 0;
}

}  // namespace
}  // namespace pax

int main(int argc, char** argv) {
  try {
    return pax::run(std::span(argv + 1, static_cast<size_t>(argc - 1)));
  } catch (const std::exception& error) {
    fmt::print(stderr, "layer_emission: {}\n", error.what());
    return 2;
  }
}
