// Well-known models are configs: they build, and have exactly the parameters that their authors report.

#include <gtest/gtest.h>

#include "pax/config/yaml.h"
#include "pax/layers/registry.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

int64_t parameters_of(std::string_view yaml) {
  config::Registry registry;
  register_layers(registry);
  TracedLayer traced;
  traced.build(config::parse<Layer>(yaml, registry));
  return traced.trace.num_params();
}

// Touvron et al. 2023, 7B.
constexpr std::string_view kLlama = R"(
__class__: TransformerLm
vocab_size: 32000
model_dims: 4096
position_emb_tpl: null
separate_embedding_tpl: {__class__: Embedding}
softmax_tpl: {__class__: FullSoftmax, feed_forward_tpl: {__class__: FeedForward, has_bias: false}}
final_ln_tpl: {__class__: RmsNorm}
stacked_transformer_tpl:
  __class__: StackedTransformerRepeated
  x_times: 32
  block:
    __class__: StackedTransformer
    num_layers: 1
    num_heads: 32
    dim_per_head: 128
    hidden_dims: 11008
    transformer_layer_params_tpl:
      __class__: Transformer
      ln_tpl: {__class__: RmsNorm}
      tr_atten_tpl:
        __class__: GroupedQueryAttention
        num_kv_heads: 32
        use_bias: false
        rope_min_max_timescales: [1, 10000]
      tr_fflayer_tpl:
        __class__: TransformerFeedForward
        has_bias: false
        use_gated_activation: true
        activation_tpl: {__class__: SiLU}
        ln_tpl: {__class__: RmsNorm}
)";

TEST(KnownModels, Llama2Has6738415616Parameters) { EXPECT_EQ(parameters_of(kLlama), 6738415616); }

// Radford et al. 2019, the small one.
constexpr std::string_view kGpt2 = R"(
__class__: TransformerLm
vocab_size: 50257
model_dims: 768
position_emb_tpl: {__class__: TrainablePositionalEmbedding, max_seq_length: 1024, lookup_style: index}
softmax_tpl: {__class__: NClassMajorSharedEmbeddingSoftmax, use_bias: false}
stacked_transformer_tpl:
  __class__: StackedTransformer
  num_layers: 12
  num_heads: 12
  hidden_dims: 3072
  transformer_layer_params_tpl:
    __class__: Transformer
    tr_atten_tpl: {__class__: DotProductAttention, combine_qkv: true, internal_enable_per_dim_scale: false}
    tr_fflayer_tpl: {__class__: TransformerFeedForward, activation_tpl: {__class__: GELU}}
)";

TEST(KnownModels, Gpt2Has124439808Parameters) { EXPECT_EQ(parameters_of(kGpt2), 124439808); }

// Jiang et al. 2024, 8x7B.
constexpr std::string_view kMixtral = R"(
__class__: TransformerLm
vocab_size: 32000
model_dims: 4096
position_emb_tpl: null
separate_embedding_tpl: {__class__: Embedding}
softmax_tpl: {__class__: FullSoftmax, feed_forward_tpl: {__class__: FeedForward, has_bias: false}}
final_ln_tpl: {__class__: RmsNorm}
stacked_transformer_tpl:
  __class__: StackedTransformerRepeated
  x_times: 32
  block:
    __class__: StackedTransformer
    num_layers: 1
    num_heads: 32
    dim_per_head: 128
    hidden_dims: 14336
    moe_layers: [0]
    num_experts: 8
    num_groups: 1
    moe_layer_tpl:
      __class__: TransformerFeedForwardMoe
      use_gated_activation: true
      activation_tpl: {__class__: SiLU}
      ln_tpl: {__class__: RmsNorm}
    transformer_layer_params_tpl:
      __class__: Transformer
      ln_tpl: {__class__: RmsNorm}
      tr_atten_tpl:
        __class__: GroupedQueryAttention
        num_kv_heads: 8
        use_bias: false
        rope_min_max_timescales: [1, 1000000]
)";

TEST(KnownModels, MixtralHas46702792704Parameters) { EXPECT_EQ(parameters_of(kMixtral), 46702792704); }

}  // namespace
}  // namespace pax
