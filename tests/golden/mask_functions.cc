#include "pax/layers/attention/masks.h"
#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/task/models/language_model.h"
#include "tests/golden/layer_call.h"

namespace pax::golden {
namespace {

Outputs causal(const LayerCall& call) { return {{"out", causal_mask(call.in("input_t"))}}; }

Outputs segments(const LayerCall& call) {
  return {{"out", segment_mask(call.in("segment_ids"), call.in("source_segment_ids"), DType::kF32)}};
}

Outputs causal_segments(const LayerCall& call) {
  return {{"out", causal_segment_mask(call.in("segment_ids"), DType::kF32, call.in("causal_attention_mask"))}};
}

Outputs limited_context(const LayerCall& call) {
  const int64_t size = call.number("time_size").value();
  const pax::Context context{call.number("left_context"), call.number("right_context")};
  return {{"out", limited_context_mask(call.graph, context, size, size, DType::kF32)}};
}

Outputs paddings(const LayerCall& call) { return {{"out", paddings_mask(call.in("paddings"), DType::kF32)}}; }

Outputs merged(const LayerCall& call) {
  return {{"out", merge_masks(paddings_mask(call.in("paddings"), DType::kF32), causal_mask(call.in("input_t")))}};
}

Tensor either(const LayerCall& call, std::string_view name, std::string_view other) {
  const Tensor found = call.in(name);
  return found ? found : call.in(other);
}

Outputs call_attention(const Attention& layer, const LayerCall& call) {
  const AttentionOutput out = layer.fprop({.query_btd = either(call, "query_vec", "inputs"),
                                           .key_bsd = either(call, "key_vec", "inputs"),
                                           .value_bsd = either(call, "value_vec", "inputs"),
                                           .mask = call.in("atten_mask"),
                                           .query_segment_pos = call.in("segment_pos"),
                                           .key_segment_pos = call.in("segment_pos")});
  return {{"encoded", out.encoded_btd}, {"probs", out.probs}};
}

Outputs call_relative_bias(const RelativeBias& layer, const LayerCall& call) {
  return {{"out", layer.bias(call.in("q"), call.in("k"))}};
}

Outputs call_depthwise(const CausalDepthwiseConv1D& layer, const LayerCall& call) {
  return {{"out", layer.convolve(call.in("inputs"), {.axis = call.number("axis").value()})}};
}

Outputs call_ffn(const TransformerFfn& layer, const LayerCall& call) {
  return {{"out", layer.fprop(FeedForwardInputs{.x = call.in("inputs"), .paddings = call.in("paddings")})}};
}

Outputs call_transformer(const TransformerLayer& layer, const LayerCall& call) {
  const TransformerOutput out = layer.fprop(TransformerInputs{.x_btd = call.in("inputs"),
                                                              .paddings_bt = call.in("paddings"),
                                                              .mask = call.in("attention_mask"),
                                                              .cross_bsd = call.in("cross_inputs"),
                                                              .cross_mask = call.in("cross_attention_mask"),
                                                              .segment_pos_bt = call.in("segment_pos")});
  return {{"out", out.x_btd}, {"probs/self_atten", out.self_atten_probs}, {"probs/cross_atten", out.cross_atten_probs}};
}

Outputs call_stack(const TransformerStack& layer, const LayerCall& call) {
  return {{"out", layer.fprop(StackInputs{.x_btd = call.in("inputs"),
                                          .paddings_bt = call.in("paddings"),
                                          .segment_mask = call.in("segment_mask"),
                                          .cross_bsd = call.in("cross_inputs"),
                                          .cross_paddings_bs = call.in("cross_paddings"),
                                          .segment_pos_bt = call.in("segment_pos")})}};
}

Outputs lm_outputs(const LmOutput& out) {
  return {{"logits", out.logits},
          {"log_probs", out.log_probs},
          {"per_example_argmax", out.per_example_argmax},
          {"per_example_xent", out.per_example_xent},
          {"per_token_xent", out.per_token_xent},
          {"per_sequence_xent", out.per_sequence_xent},
          {"total_xent", out.total_xent},
          {"total_weight", out.total_weight},
          {"avg_xent", out.avg_xent},
          {"avg_xent_weight", out.avg_xent_weight},
          {"accuracy", out.accuracy},
          {"z_loss", out.z_loss},
          {"aux_loss", out.aux_loss},
          {"aux_loss_weight", out.aux_loss_weight},
          {"avg_entropy_loss", out.avg_entropy_loss},
          {"total_loss", out.total_loss}};
}

Outputs call_lm(const LanguageModelLayer& layer, const LayerCall& call) {
  return lm_outputs(layer.fprop({.ids_bt = call.in("ids"),
                                 .paddings_bt = call.in("paddings"),
                                 .segment_ids_bt = call.in("segment_ids"),
                                 .segment_pos_bt = call.in("segment_pos"),
                                 .causal_bt = call.in("causal_attention_mask")},
                                {.class_ids_bt = call.in("labels"), .class_weights_bt = call.in("weights")}));
}

Outputs call_model(const BaseModel& layer, const LayerCall& call) {
  Outputs outputs;
  const ModelOutput model = layer.compute_loss(call.inputs);
  for (const auto& [name, metric] : model.metrics) {
    outputs["metric/" + name + "/value"] = metric.value;
    outputs["metric/" + name + "/weight"] = metric.weight;
  }
  outputs["total_loss"] = model.metrics.at("total_loss").value;
  return outputs;
}

constexpr LayerBinder kBinders[] = {binder<Attention, call_attention>(),
                                    binder<RelativeBias, call_relative_bias>(),
                                    binder<CausalDepthwiseConv1D, call_depthwise>(),
                                    binder<TransformerFfn, call_ffn>(),
                                    binder<TransformerLayer, call_transformer>(),
                                    binder<TransformerStack, call_stack>(),
                                    binder<LanguageModelLayer, call_lm>(),
                                    binder<BaseModel, call_model>()};

constexpr FunctionBinder kFunctions[] = {
    {"causal_mask", causal},
    {"segment_mask", segments},
    {"causal_segment_mask", causal_segments},
    {"limited_context_mask", limited_context},
    {"convert_paddings_to_mask", paddings},
    {"merge_masks", merged},
};

}  // namespace

std::span<const FunctionBinder> mask_functions() { return kFunctions; }

}  // namespace pax::golden
