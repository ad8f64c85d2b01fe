#include "pax/layers/attention/causal_depthwise_conv1d.h"
#include "pax/layers/attention/masks.h"
#include "pax/layers/attention/projections.h"
#include "pax/layers/attention/relative_bias.h"
#include "pax/layers/speech/conformer.h"
#include "pax/layers/transformers/stack.h"
#include "pax/layers/transformers/transformer.h"
#include "pax/ops/constant.h"
#include "pax/ops/logic.h"
#include "tests/golden/layer_call.h"

namespace pax::golden {
namespace {

/// `name`, or `otherwise` where a call passes one array for several arguments.
Tensor in_or(const LayerCall& call, std::string_view name, Tensor otherwise) {
  const Tensor x = call.in(name);
  return x ? x : otherwise;
}

/// The mask as an array to add; recorded ones may be 1 where a query may not look.
Tensor additive_mask(const LayerCall& call, std::string_view name) {
  const Tensor mask = call.in(name);
  if (!mask || is_floating(mask.dtype())) return mask;
  const Tensor zero = full(call.graph, {DType::kF32, mask.shape()}, 0.0);
  return select(ne(mask, 0.0), large_negative_number(DType::kF32), zero);
}

Outputs call_attention(const Attention& layer, const LayerCall& call) {
  const Tensor query = in_or(call, "query_vec", call.in("inputs"));
  const Tensor key = in_or(call, "key_vec", query);
  const Tensor positions = call.in("segment_pos");
  const AttentionOutput out = layer.fprop({.query_btd = query,
                                           .key_bsd = key,
                                           .value_bsd = in_or(call, "value_vec", key),
                                           .mask = additive_mask(call, "atten_mask"),
                                           .query_segment_pos = in_or(call, "query_segment_pos", positions),
                                           .key_segment_pos = in_or(call, "key_segment_pos", positions)});
  return {{"encoded", out.encoded_btd}, {"probs", out.probs}};
}

Outputs call_relative_bias(const RelativeBias& layer, const LayerCall& call) {
  return {{"out", layer.bias(call.in("q"), call.in("k"))}};
}

Outputs call_causal_conv(const CausalDepthwiseConv1D& layer, const LayerCall& call) {
  return {{"out", layer.convolve(call.in("inputs"),
                                 {.axis = call.number("axis").value_or(1), .segment_pos = call.in("segment_pos")})}};
}

Outputs call_combined_projection(const CombinedQKVProjectionLayer& layer, const LayerCall& call) {
  const auto [query, key, value] = layer.project(call.first());
  return {{"query", query}, {"key", key}, {"value", value}};
}

Outputs call_ffn(const TransformerFfn& layer, const LayerCall& call) {
  return {{"out",
           layer.fprop(
               {.x = call.in("inputs"), .paddings = call.in("paddings"), .segment_ids_bt = call.in("segment_ids")})}};
}

Outputs call_transformer(const TransformerLayer& layer, const LayerCall& call) {
  const TransformerOutput out = layer.fprop({.x_btd = call.in("inputs"),
                                             .paddings_bt = call.in("paddings"),
                                             .mask = additive_mask(call, "attention_mask"),
                                             .cross_bsd = call.in("cross_inputs"),
                                             .cross_mask = additive_mask(call, "cross_attention_mask"),
                                             .segment_pos_bt = call.in("segment_pos"),
                                             .segment_ids_bt = call.in("segment_ids")});
  return {{"out", out.x_btd}, {"probs/self_atten", out.self_atten_probs}, {"probs/cross_atten", out.cross_atten_probs}};
}

Outputs call_stack(const TransformerStack& layer, const LayerCall& call) {
  return {{"out", layer.fprop({.x_btd = call.in("inputs"),
                               .paddings_bt = call.in("paddings"),
                               .segment_mask = additive_mask(call, "segment_mask"),
                               .cross_bsd = call.in("cross_inputs"),
                               .cross_paddings_bs = call.in("cross_paddings"),
                               .cross_segment_mask = additive_mask(call, "cross_segment_mask"),
                               .segment_pos_bt = call.in("segment_pos")})}};
}

Outputs call_conformer(const Conformer& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("inputs"), call.in("paddings"), additive_mask(call, "atten_mask"))}};
}

Outputs call_conformer_attention(const SelfAttentionWithNormAndResidual& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("inputs"), call.in("paddings"), additive_mask(call, "atten_mask"))}};
}

constexpr LayerBinder kBinders[] = {binder<Attention, call_attention>(),
                                    binder<Conformer, call_conformer>(),
                                    binder<SelfAttentionWithNormAndResidual, call_conformer_attention>(),
                                    binder<RelativeBias, call_relative_bias>(),
                                    binder<CausalDepthwiseConv1D, call_causal_conv>(),
                                    binder<CombinedQKVProjectionLayer, call_combined_projection>(),
                                    binder<TransformerFfn, call_ffn>(),
                                    binder<TransformerLayer, call_transformer>(),
                                    binder<TransformerStack, call_stack>()};

}  // namespace

std::span<const LayerBinder> attention_binders() { return kBinders; }

}  // namespace pax::golden
