#include "pax/layers/transformer_models/transformer_lm.h"

#include <gmock/gmock.h>

#include "pax/layers/transformer_models/lm_sharding.h"
#include "pax/layers/transformers/stacked_transformer_repeated.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/slice.h"
#include "tests/layers/matchers.h"
#include "tests/layers/some_values.h"

namespace pax {
namespace {

struct Sizes {
  int64_t layers, dims, hidden, vocabulary, heads;
};

/// A language model as Pax's presets have it: one block repeated, one weight for queries, keys and values.
TransformerLm::Config preset(const Sizes& sizes) {
  StackedTransformer::Config block;
  block.num_layers = 1;
  block.hidden_dims = sizes.hidden;
  block.num_heads = sizes.heads;
  auto& layer = std::get<0>(block.transformer_layer_params_tpl);
  layer.set("tr_atten_tpl.combine_qkv", true);
  layer.set("tr_atten_tpl.use_bias", false);
  StackedTransformerRepeated::Config stack;
  stack.block = block;
  stack.x_times = sizes.layers;
  TransformerLm::Config lm;
  lm.model_dims = sizes.dims;
  lm.vocab_size = sizes.vocabulary;
  lm.stacked_transformer_tpl = stack;
  return lm;
}

int64_t num_params(const TransformerLm::Config& config) {
  TracedLayer traced;
  traced.build(Tpl<LanguageModelLayer>(config));
  return traced.trace.num_params();
}

TEST(TransformerLm, HasAsManyParametersAsPaxsPresets) {
  EXPECT_EQ(num_params(preset({2, 64, 256, 32000, 8})), 2'179'600);             // LmCloudSpmdTest
  EXPECT_EQ(num_params(preset({13, 2560, 10240, 32000, 20})), 1'104'619'904);   // C4Spmd1BAdam4Replicas
  EXPECT_EQ(num_params(preset({36, 6144, 24576, 32000, 48})), 16'506'101'504);  // C4Spmd16BAdam32Replicas
}

TEST(TransformerLm, NamesWeightsAsPraxisDoes) {
  TracedLayer traced;
  traced.build(Tpl<LanguageModelLayer>(preset({2, 8, 16, 11, 2})));
  const Param* qkv = traced.trace.find("params/layer/transformer/repeat/sub/x_layers_0/self_attention/combined_qkv/w");
  ASSERT_NE(qkv, nullptr);
  EXPECT_EQ(to_string(qkv->value.type()), "f32[2,3,8,2,4]");
  EXPECT_NE(traced.trace.find("params/layer/softmax/logits_ffn/linear/w"), nullptr);
  EXPECT_NE(traced.trace.find("params/layer/final_ln/scale"), nullptr);
}

TEST(TransformerLm, ShardsWeightsByPaxsRecipe) {
  TransformerLm::Config config = preset({2, 8, 16, 11, 2});
  Tpl<LanguageModelLayer> tpl = config;
  set_sharding(tpl, sharding_v1({}, OptimizedFor::kTraining));
  TracedLayer traced;
  traced.build(tpl);
  const auto split = [&](const std::string& name) { return traced.trace.find("params/layer/" + name)->spec.split; };
  using Split = std::vector<std::vector<std::string>>;
  const std::string block = "transformer/repeat/sub/x_layers_0/";
  EXPECT_EQ(split(block + "self_attention/combined_qkv/w"), (Split{{}, {}, {"data"}, {"mdl"}, {}}));
  EXPECT_EQ(split(block + "ff_layer/ffn_layer1/linear/w"), (Split{{}, {"data"}, {"mdl"}}));
  EXPECT_EQ(split(block + "ff_layer/ffn_layer2/linear/w"), (Split{{}, {"mdl"}, {"data"}}));
  EXPECT_EQ(split("softmax/logits_ffn/linear/w"), (Split{{"data"}, {"mdl"}}));
}

/// Logits of every position by one forward pass, and step by step.
Tensor step_by_step_minus_whole(TracedLayer& traced, const TransformerLm::Config& config, int64_t length) {
  const auto lm = traced.build(Tpl<LanguageModelLayer>(config));
  Graph& graph = traced.graph;
  const Tensor ids = iota(graph, {DType::kS32, {2, length}}, 1) + iota(graph, {DType::kS32, {2, length}}, 0);
  DecodeCache cache;
  const LmInputs inputs{.ids_bt = ids, .paddings_bt = full(graph, {DType::kF32, {2, length}}, 0)};
  const Tensor whole = lm->predict(inputs).logits;
  LmInputs filling = inputs;
  filling.cache = &cache;
  lm->activations(filling);
  for (auto& [name, value] : cache) value = zeros_like(value);
  std::vector<Tensor> steps;
  for (int64_t t = 0; t < length; ++t) {
    steps.push_back(lm->extend_step({.ids_b = index_dim(ids, 1, t),
                                     .time_step = full(graph, {DType::kS32, {}}, static_cast<double>(t)),
                                     .segment_pos_b = {},
                                     .mask = {},
                                     .max_length = length,
                                     .cache = &cache}));
  }
  return stack(steps, 1) - whole;
}

TEST(TransformerLm, DecodesStepByStepWhatTheForwardPassSays) {
  TracedLayer traced(ModelTrace::Mode::kEval);
  const Tensor difference = step_by_step_minus_whole(traced, preset({3, 8, 16, 11, 2}), 5);
  EXPECT_THAT(run(traced, difference, some_values(traced)), near(std::vector<double>(2 * 5 * 11, 0.0), 1e-5));
}

TEST(TransformerLm, DecodesWithSeveralLeadingDimensions) {
  TransformerLm::Config config = preset({4, 8, 16, 11, 2});
  config.stacked_transformer_tpl.set("nd_prefix_shape", std::vector<int64_t>{2, 2});
  TracedLayer traced(ModelTrace::Mode::kEval);
  const Tensor difference = step_by_step_minus_whole(traced, config, 4);
  EXPECT_THAT(run(traced, difference, some_values(traced)), near(std::vector<double>(2 * 4 * 11, 0.0), 1e-5));
}

TEST(TransformerLm, RefusesDimensionsThatDoNotFit) {
  EXPECT_THAT(
      [] {
        num_params(preset({2, 10, 16, 11, 4}));
      },
      throws<ConfigError>("self_attention", "hidden_dim 10", "num_heads 4"));
}

}  // namespace
}  // namespace pax
