#include <gmock/gmock.h>

#include "pax/layers/attention/dot_product_attention_xl.h"
#include "pax/layers/attention/grouped_query_attention.h"
#include "pax/layers/attention/local_self_attention.h"
#include "pax/layers/attention/masks.h"
#include "pax/layers/attention/multi_query_attention.h"
#include "pax/layers/normalizations.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/slice.h"
#include "tests/layers/matchers.h"
#include "tests/layers/some_values.h"

namespace pax {
namespace {

constexpr int64_t kBatch = 2, kTime = 6, kDims = 8;

/// A form of attention, with what its template is given.
struct Form {
  const char* name;
  Tpl<Attention> (*make)();
  friend void PrintTo(const Form& form, std::ostream* os) { *os << form.name; }
};

template <class Config>
Config base() {
  Config config;
  config.input_dim = kDims;
  config.hidden_dim = kDims;
  config.num_heads = 2;
  return config;
}

template <class Config>
Config local() {
  auto config = base<Config>();
  config.block_size = 3;
  config.left_context = 3;
  config.right_context = 0;
  return config;
}

const Form kForms[] = {
    {"Plain", [] { return Tpl<Attention>(base<DotProductAttention::Config>()); }},
    {"CombinedQkv",
     [] {
       auto c = base<DotProductAttention::Config>();
       c.combine_qkv = true;
       c.atten_logit_cap = 2.0;
       c.attention_extra_logit = 0.5;
       return Tpl<Attention>(c);
     }},
    {"Rotary",
     [] {
       auto c = base<DotProductAttention::Config>();
       c.use_rotary_position_emb = true;
       return Tpl<Attention>(c);
     }},
    {"RotaryInOneState",
     [] {
       auto c = base<DotProductAttention::Config>();
       c.use_rotary_position_emb = true;
       c.consolidate_rope_key_state = true;
       return Tpl<Attention>(c);
     }},
    {"Convolved",
     [] {
       auto c = base<DotProductAttention::Config>();
       c.dconv_qkv = true;
       return Tpl<Attention>(c);
     }},
    {"RelativeBias",
     [] {
       auto c = base<DotProductAttention::Config>();
       c.relative_bias_tpl = RelativeBias::Config{};
       return Tpl<Attention>(c);
     }},
    {"NormalisedQueriesAndKeys",
     [] {
       auto c = base<DotProductAttention::Config>();
       c.ln_tpl = RmsNorm::Config{};
       c.scale_logits_by_head_dims = true;
       return Tpl<Attention>(c);
     }},
    {"RelativePositions",
     [] {
       auto c = base<DotProductAttentionXL::Config>();
       c.rel_pos_emb_dim = 6;
       return Tpl<Attention>(c);
     }},
    {"Local", [] { return Tpl<Attention>(local<LocalSelfAttention::Config>()); }},
    {"LocalRelativePositions",
     [] {
       auto c = local<LocalSelfAttentionXL::Config>();
       c.rel_pos_emb_dim = 6;
       return Tpl<Attention>(c);
     }},
    {"LocalRelativeBias", [] { return Tpl<Attention>(local<LocalSelfAttentionRelativeBias::Config>()); }},
    {"LocalAlibi", [] { return Tpl<Attention>(local<LocalSelfAttentionAlibi::Config>()); }},
    {"MultiQuery", [] { return Tpl<Attention>(base<MultiQueryDotProductAttention::Config>()); }},
    {"MultiQueryTwoHeadsRotary",
     [] {
       auto c = base<MultiQueryDotProductAttention::Config>();
       c.num_heads = 4;
       c.num_kv_heads = 2;
       c.use_rotary_position_emb = true;
       return Tpl<Attention>(c);
     }},
    {"MultiQueryWindow",
     [] {
       auto c = base<MultiQueryDotProductAttention::Config>();
       c.local_window_size = std::array<int64_t, 2>{2, 0};
       c.relative_bias_tpl = RelativeBias::Config{};
       return Tpl<Attention>(c);
     }},
    {"GroupedQuery",
     [] {
       auto c = base<GroupedQueryAttention::Config>();
       c.num_heads = 4;
       c.num_kv_heads = 2;
       c.dim_per_head = 4;
       c.rope_min_max_timescales = std::array<int64_t, 2>{1, 100};
       return Tpl<Attention>(c);
     }},
};

class ExtendStep : public ::testing::TestWithParam<Form> {};

TEST_P(ExtendStep, EqualsTheForwardPassAtEveryPosition) {
  TracedLayer traced(ModelTrace::Mode::kEval);
  const auto layer = traced.build(GetParam().make());
  const Tensor x = traced.input("x", {DType::kF32, {kBatch, kTime, kDims}});
  // The layers' masks are those of all rows.
  const Tensor mask = causal_mask(x) + full(traced.graph, {DType::kF32, {kBatch, 1, 1, 1}}, 0);
  const Tensor position = iota(traced.graph, {DType::kS32, {kBatch, kTime}}, 1);
  DecodeCache cache;
  const Tensor whole = layer
                           ->fprop({.query_btd = x,
                                    .key_bsd = x,
                                    .value_bsd = x,
                                    .mask = mask,
                                    .query_segment_pos = position,
                                    .key_segment_pos = position,
                                    .cache = &cache})
                           .encoded_btd;
  for (auto& [name, value] : cache) value = zeros_like(value);
  std::vector<Tensor> steps;
  for (int64_t t = 0; t < kTime; ++t) {
    steps.push_back(layer->extend_step({.query_bd = index_dim(x, 1, t),
                                        .mask = slice_dim(slice_dim(index_dim(mask, 1, 0), 1, t, t + 1), 0, 0, 1),
                                        .time_step = full(traced.graph, {DType::kS32, {}}, static_cast<double>(t)),
                                        .segment_pos = {},
                                        .cache = &cache}));
  }
  const Tensor difference = stack(steps, 1) - whole;
  EXPECT_THAT(run(traced, difference, some_values(traced)),
              near(std::vector<double>(kBatch * kTime * kDims, 0.0), 1e-5));
}

INSTANTIATE_TEST_SUITE_P(Forms, ExtendStep, ::testing::ValuesIn(kForms),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace pax
