#include "pax/layers/transformer_models/transformer_encoder_decoder.h"
#include "pax/layers/transformer_models/transformer_lm.h"
#include "pax/task/base_model.h"
#include "tests/golden/layer_call.h"

namespace pax::golden {
namespace {

Outputs outputs_of(const LmOutput& out) {
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
          {"total_loss", out.total_loss},
          {"aux_loss", out.aux_loss},
          {"aux_loss_weight", out.aux_loss_weight},
          {"avg_entropy_loss", out.avg_entropy_loss}};
}

Outputs call_lm(const LanguageModelLayer& layer, const LayerCall& call) {
  return outputs_of(layer.fprop({.ids_bt = call.in("ids"),
                                 .paddings_bt = call.in("paddings"),
                                 .segment_ids_bt = call.in("segment_ids"),
                                 .segment_pos_bt = call.in("segment_pos"),
                                 .causal_bt = call.in("causal_attention_mask")},
                                {.class_ids_bt = call.in("labels"), .class_weights_bt = call.in("weights")}));
}

Outputs call_sequence(const SequenceModelLayer& layer, const LayerCall& call) {
  return outputs_of(layer.fprop({.ids_bs = call.in("ids"),
                                 .paddings_bs = call.in("input_paddings"),
                                 .segment_ids_bs = call.in("input_segment_ids"),
                                 .segment_pos_bs = call.in("input_segment_pos"),
                                 .targets_bt = call.in("targets"),
                                 .target_paddings_bt = call.in("target_paddings"),
                                 .target_segment_ids_bt = call.in("target_segment_ids"),
                                 .target_segment_pos_bt = call.in("target_segment_pos")},
                                {.class_ids_bt = call.in("labels"), .class_weights_bt = call.in("weights")}));
}

Outputs call_model(const BaseModel& layer, const LayerCall& call) {
  if (call.text().starts_with("decode(")) return layer.decode(call.inputs);
  const ModelOutput out = layer.compute_loss(call.inputs);
  Outputs outputs;
  for (const auto& [name, metric] : out.metrics) {
    outputs["metric/" + name + "/value"] = metric.value;
    outputs["metric/" + name + "/weight"] = metric.weight;
    if (name == "total_loss") outputs[name] = metric.value;
  }
  return outputs;
}

constexpr LayerBinder kBinders[] = {binder<LanguageModelLayer, call_lm>(), binder<SequenceModelLayer, call_sequence>(),
                                    binder<BaseModel, call_model>()};

}  // namespace

std::span<const LayerBinder> model_binders() { return kBinders; }

}  // namespace pax::golden
