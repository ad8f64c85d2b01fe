// No layer crashes on inputs or options that do not fit: what it throws is one of our errors, with its path.

#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/config/yaml.h"
#include "pax/layers/embedding.h"
#include "pax/layers/registry.h"
#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

config::Registry all_layers() {
  config::Registry registry;
  register_layers(registry);
  return registry;
}

config::Value class_alone(std::string_view name) { return config::read_yaml("__class__: " + std::string(name)); }

/// Runs `action`; gives the message of our error, or nothing when there was none. Other exceptions pass.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(EveryLayer, IsBuiltFromItsDefaultsOrSaysWhatIsMissing) {
  const config::Registry registry = all_layers();
  const auto classes = registry.implementing(config::type_name<Layer>());
  ASSERT_GT(classes.size(), 100u);
  for (const config::ConfigType* type : classes) {
    const std::string message = message_of([&] {
      TracedLayer traced;
      traced.build(config::parse<Layer>(class_alone(type->name), registry));
    });
    EXPECT_TRUE(message.empty() || message.find("layer") != std::string::npos) << type->name << ": " << message;
  }
}

TEST(EveryLayer, RefusesInputsThatDoNotFitWithAnErrorOfOurs) {
  const config::Registry registry = all_layers();
  const std::vector<TensorType> inputs = {{DType::kF32, {}},
                                          {DType::kS32, {2, 3}},
                                          {DType::kPred, {2, 3, 4}},
                                          {DType::kF32, {0, 3, 4}},
                                          {DType::kF32, {2, 3, 4, 5, 6, 7}}};
  for (const config::ConfigType* type : registry.implementing(config::type_name<Layer>())) {
    for (const TensorType& input : inputs) {
      message_of([&] {
        TracedLayer traced;
        const auto layer = traced.build(config::parse<Layer>(class_alone(type->name), registry));
        layer->fprop(traced.input("x", input));
      });
    }
  }
}

struct Impossible {
  std::string_view config;
  std::vector<std::string_view> words;
};

TEST(Layers, NameTheOptionsThatDoNotGoTogether) {
  const Impossible cases[] = {
      {"{__class__: MLPBlock, num_layers: 0}", {"num_layers", "0"}},
      {"{__class__: Sequential, layers: []}", {"layer", "layers"}},
      {"{__class__: Repeat, x_times: 0}", {"x_times"}},
      {"{__class__: StackedTransformerRepeated, x_times: 4, nd_prefix_shape: [3, 2]}", {"nd_prefix_shape", "4"}},
      {"{__class__: Einsum, eqn: 'ab,bc', w_shape: [2, 3]}", {"layer", "ab,bc"}},
      {"{__class__: SSM, nheads: 0, dim: 4}", {"nheads", "0"}},
      {"{__class__: SSMTransformer, input_dims: 8, ssm_dim: 4, ssm_nheads: 2, ssm_l_max: 4}", {"ssm_dim", "4", "8"}},
      {"{__class__: Conformer, input_dims: 8, model_dims: 8, fflayer_start_tpl: null, fflayer_weight_sharing: true}",
       {"fflayer_weight_sharing", "fflayer_start_tpl"}},
      {"{__class__: SelfAttentionWithNormAndResidual, norm_policy: post}", {"pre_layer_norm", "norm_policy"}},
      {"{__class__: Ngrammer, num_heads: 2, unigram_vocab_size: 9, ngram_emb_dim: 8, dim_per_head: 4}",
       {"ngram_emb_dim", "8", "4"}},
      {"{__class__: VectorQuantization, num_clusters: 0, num_heads: 2, dim_per_head: 4}", {"num_clusters", "0"}},
      {"{__class__: ResNet, strides: [1], channels: [8, 8], blocks: [1], kernels: [3]}", {"1 strides", "2 channels"}},
      {"{__class__: VanillaNet, strides: [], channels: [], blocks: [], kernels: []}", {"0 strides"}},
      {"{__class__: praxis.layers.quantization.linears.Linear, input_dims: 12, output_dims: 4, quantization: "
       "{weight_params: {precision: 4}}}",
       {"12", "8"}},
      {"{__class__: praxis.layers.quantization.linears.Linear, input_dims: 8, output_dims: 4, quantization: "
       "{weight_params: {min_clipping: 0.5}}}",
       {"min_clipping", "num_optimize_clipping"}},
  };
  const config::Registry registry = all_layers();
  for (const Impossible& impossible : cases) {
    const std::string message = message_of([&] {
      TracedLayer traced;
      traced.build(config::parse<Layer>(impossible.config, registry));
    });
    for (const std::string_view word : impossible.words) {
      EXPECT_NE(message.find(word), std::string::npos) << impossible.config << " gave: " << message;
    }
  }
}

TEST(ArrayLookup, CountsNegativeIdsFromTheEnd) {
  Embedding::Config config;
  config.num_classes = 3;
  config.input_dims = 1;
  const HostArray rows = forward(config, {{"emb_var", f32({1, 2, 3}, {3, 1})}}, s32({-1, 0, 5}, {3}));
  EXPECT_THAT(rows, near({3, 1, 3}));
}

}  // namespace
}  // namespace pax
