// With bfloat16 activations, variables stay in float32, and so does what must not be rounded: softmaxes of attention,
// gates, and losses.

#include <gtest/gtest.h>

#include <sstream>

#include "pax/config/yaml.h"
#include "pax/ir/stablehlo.h"
#include "pax/ir/transform.h"
#include "pax/layers/registry.h"
#include "pax/layers/softmax/softmax.h"
#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/layers/transformers/transformer.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

constexpr int64_t kBatch = 2, kLength = 6, kWidth = 8;

/// A layer of that config, to which bfloat16 comes down.
template <class L>
std::shared_ptr<L> build(TracedLayer& traced, std::string_view yaml) {
  config::Registry registry;
  register_layers(registry);
  Tpl<L> tpl = config::parse<L>(yaml, registry);
  tpl.set("fprop_dtype", std::optional(DType::kBF16));
  return traced.build(tpl);
}

/// Lines of the program of `y` that have `op` on bfloat16.
std::vector<std::string> in_bfloat16(TracedLayer& traced, Tensor y, std::string_view op) {
  traced.graph.output("y", y);
  std::istringstream text(to_stablehlo(*lower(traced.graph, Target{.platform = Target::Platform::kTpu})));
  std::vector<std::string> found;
  for (std::string line; std::getline(text, line);) {
    if (line.find(op) != std::string::npos && line.find("bf16") != std::string::npos) found.push_back(line);
  }
  return found;
}

TensorType bf16(Shape shape) { return {DType::kBF16, std::move(shape)}; }

// Without the scale of each dimension, whose softplus is taken in the type of the activations, as in Praxis.
class AttentionIn16Bits : public testing::TestWithParam<std::string_view> {};

TEST_P(AttentionIn16Bits, TakesItsSoftmaxInFloat32) {
  TracedLayer traced;
  const auto layer = build<Attention>(traced, GetParam());
  const Tensor x = traced.input("x", bf16({kBatch, kLength, kWidth}));
  const Tensor mask = traced.input("mask", bf16({kBatch, 1, kLength, kLength}));
  const Tensor y = layer->fprop({.query_btd = x, .key_bsd = x, .value_bsd = x, .mask = mask}).encoded_btd;
  EXPECT_EQ(y.dtype(), DType::kBF16);
  EXPECT_TRUE(in_bfloat16(traced, y, "stablehlo.exponential\"").empty());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, AttentionIn16Bits,
    testing::Values(
        "{__class__: DotProductAttention, internal_enable_per_dim_scale: false, input_dim: 8, hidden_dim: 8, "
        "num_heads: 2}",
        "{__class__: DotProductAttention, internal_enable_per_dim_scale: false, input_dim: 8, hidden_dim: 8, "
        "num_heads: 2, combine_qkv: true, "
        "atten_logit_cap: 5.0}",
        "{__class__: MultiQueryDotProductAttention, input_dim: 8, hidden_dim: 8, num_heads: 2}",
        "{__class__: GroupedQueryAttention, input_dim: 8, hidden_dim: 8, num_heads: 2, num_kv_heads: 1, dim_per_head: "
        "4}",
        "{__class__: LocalSelfAttention, internal_enable_per_dim_scale: false, input_dim: 8, hidden_dim: 8, num_heads: "
        "2, block_size: 2, left_context: 2, "
        "right_context: 0}",
        "{__class__: DotProductAttentionXL, internal_enable_per_dim_scale: false, input_dim: 8, hidden_dim: 8, "
        "num_heads: 2, rel_pos_emb_dim: 4}"));

TEST(MixedPrecision, KeepsVariablesInFloat32) {
  TracedLayer traced;
  build<Layer>(traced, "{__class__: Transformer, input_dims: 8, hidden_dims: 16, num_heads: 2}");
  for (const Param& param : traced.trace.params()) EXPECT_EQ(param.value.dtype(), DType::kF32) << param.path;
}

TEST(MixedPrecision, GatesExpertsInFloat32) {
  TracedLayer traced;
  const auto layer = build<Layer>(
      traced, "{__class__: TransformerFeedForwardMoe, input_dims: 8, hidden_dims: 16, num_experts: 4, num_groups: 1}");
  const Tensor y = layer->fprop(traced.input("x", bf16({kBatch, kLength, kWidth})));
  EXPECT_EQ(y.dtype(), DType::kBF16);
  EXPECT_TRUE(in_bfloat16(traced, y, "stablehlo.exponential\"").empty());
}

class LossIn16Bits : public testing::TestWithParam<std::string_view> {};

TEST_P(LossIn16Bits, IsTakenInFloat32) {
  TracedLayer traced;
  const auto layer = build<Softmax>(traced, GetParam());
  const SoftmaxOutput out =
      layer->fprop(SoftmaxInputs{.inputs = traced.input("x", bf16({kBatch, kLength, kWidth})),
                                 .class_weights = traced.input("weights", {DType::kF32, {kBatch, kLength, 1}}),
                                 .class_ids = traced.input("ids", {DType::kS32, {kBatch, kLength, 1}})});
  EXPECT_EQ(out.avg_xent.dtype(), DType::kF32);
  EXPECT_TRUE(in_bfloat16(traced, out.avg_xent, "stablehlo.exponential\"").empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, LossIn16Bits,
                         testing::Values("{__class__: FullSoftmax, input_dims: 8, num_classes: 10}",
                                         "{__class__: SharedEmbeddingSoftmax, input_dims: 8, num_classes: 10}",
                                         "{__class__: FullSoftmax, input_dims: 8, num_classes: 10, chunk_size: 2}"));

}  // namespace
}  // namespace pax
