#include "pax/layers/adapters.h"
#include "pax/layers/losses.h"
#include "pax/layers/ngrammer/ngrammer.h"
#include "pax/layers/normalizations.h"
#include "pax/layers/positions.h"
#include "pax/layers/softmax/softmax.h"
#include "pax/layers/speech/ctc.h"
#include "pax/layers/stochastics.h"
#include "pax/layers/token_counter.h"
#include "tests/golden/layer_call.h"

namespace pax::golden {
namespace {

Outputs call_normalization(const BaseNormalization& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("inputs"), call.in("paddings"))}};
}

Outputs call_softmax(const Softmax& layer, const LayerCall& call) {
  if (!call.in("class_weights")) {
    Outputs outputs;
    if (call.in("ids")) outputs["emb"] = layer.emb_lookup(call.in("ids"));
    if (call.in("inputs")) outputs["logits"] = layer.get_logits(call.in("inputs"));
    return outputs;
  }
  const SoftmaxOutput out = layer.fprop(SoftmaxInputs{.inputs = call.in("inputs"),
                                                      .class_weights = call.in("class_weights"),
                                                      .class_ids = call.in("class_ids"),
                                                      .class_probabilities = call.in("class_probabilities")});
  Outputs outputs{{"logits", out.logits},
                  {"log_probs", out.log_probs},
                  {"per_example_argmax", out.per_example_argmax},
                  {"per_example_xent", out.per_example_xent},
                  {"total_xent", out.total_xent},
                  {"total_weight", out.total_weight},
                  {"avg_xent", out.avg_xent},
                  {"avg_xent_weight", out.avg_xent_weight},
                  {"accuracy", out.accuracy},
                  {"z_loss", out.z_loss}};
  if (call.in("ids")) outputs["emb"] = layer.emb_lookup(call.in("ids"));
  return outputs;
}

Outputs call_positions(const BasePositionalEmbedding& layer, const LayerCall& call) {
  return {{"out", layer.embed(call.number("seq_length"), call.in("position"))}};
}

Outputs call_rotary(const RotaryPositionalEmbedding& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("inputs"), call.in("position"))}};
}

Outputs call_token_counter(const TokenCounter& layer, const LayerCall& call) {
  layer.count(call.in("paddings"));
  return {};
}

Outputs call_adapter(const MultitaskResidualAdapter& layer, const LayerCall& call) {
  const AdapterInputs inputs{.x = call.in("inputs"), .paddings = call.in("paddings"), .tasks = call.in("tasks")};
  const bool alone = call.text().find("add_residual=False") != std::string_view::npos;
  return {{"out", alone ? layer.residual(inputs) : layer.fprop(inputs)}};
}

Outputs call_stochastic_residual(const StochasticResidual& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("inputs"), call.in("residual"))}};
}

Outputs call_vector_quantization(const VectorQuantization& layer, const LayerCall& call) {
  const auto [dists, nearest_centroid] = layer.quantize(call.in("inputs"), call.in("paddings"));
  return {{"dists", dists}, {"nearest_centroid", nearest_centroid}};
}

Outputs call_ngrammer(const BaseNgrammer& layer, const LayerCall& call) {
  return {{"out", layer.fprop({.ids = call.in("input_ids"),
                               .embs = call.in("input_embs"),
                               .paddings_bl = call.in("paddings"),
                               .segment_pos_bl = call.in("segment_pos")})}};
}

Outputs call_bi_tempered(const BiTemperedLoss& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("logits"), call.in("labels"))}};
}

constexpr LayerBinder kBinders[] = {binder<BaseNormalization, call_normalization>(),
                                    binder<Softmax, call_softmax>(),
                                    binder<BasePositionalEmbedding, call_positions>(),
                                    binder<RotaryPositionalEmbedding, call_rotary>(),
                                    binder<BiTemperedLoss, call_bi_tempered>(),
                                    binder<TokenCounter, call_token_counter>(),
                                    binder<StochasticResidual, call_stochastic_residual>(),
                                    binder<VectorQuantization, call_vector_quantization>(),
                                    binder<BaseNgrammer, call_ngrammer>(),
                                    binder<MultitaskResidualAdapter, call_adapter>(),
                                    // Last: what fits no other.
                                    {[](const Layer&) { return true; },
                                     [](const Layer& layer, const LayerCall& call) {
                                       return Outputs{{"out", layer.fprop(call.first())}};
                                     }}};

Outputs call_z_loss(const LayerCall& call) { return {{"out", compute_z_loss(call.in("logits"))}}; }

CtcInputs ctc_inputs(const LayerCall& call) {
  return {.logits_btk = call.in("logits"),
          .logit_paddings_bt = call.in("logitpaddings"),
          .labels_bn = call.in("labels"),
          .label_paddings_bn = call.in("labelpaddings"),
          .blank_id = call.number("blank_id").value_or(0)};
}

Outputs call_ctc_loss(const LayerCall& call) { return {{"out", ctc_loss(ctc_inputs(call))}}; }

Outputs call_ctc_alignments(const LayerCall& call) {
  const CtcAlignments out = ctc_loss_with_alignments(ctc_inputs(call));
  return {{"per_seq_loss", out.per_seq_loss}, {"alignment", out.alignment}, {"state_logprobs", out.state_logprobs}};
}

Outputs call_valid_ctc(const LayerCall& call) {
  return {{"out", is_valid_ctc_seq(call.in("logitpaddings"), call.in("labels"), call.in("labelpaddings"))}};
}

constexpr FunctionBinder kFunctions[] = {{"_compute_z_loss", call_z_loss},
                                         {"ctc_loss", call_ctc_loss},
                                         {"ctc_loss_with_alignments", call_ctc_alignments},
                                         {"is_valid_ctc_seq", call_valid_ctc}};

}  // namespace

std::span<const LayerBinder> basic_binders() { return kBinders; }
std::span<const FunctionBinder> basic_functions() { return kFunctions; }

}  // namespace pax::golden
