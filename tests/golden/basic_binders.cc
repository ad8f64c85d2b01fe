#include "pax/layers/adapters.h"
#include "pax/layers/losses.h"
#include "pax/layers/normalizations.h"
#include "pax/layers/positions.h"
#include "pax/layers/softmax/softmax.h"
#include "pax/layers/token_counter.h"
#include "tests/golden/layer_call.h"

namespace pax::golden {
namespace {

Outputs call_normalization(const BaseNormalization& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("inputs"), call.in("paddings"))}};
}

Outputs call_softmax(const Softmax& layer, const LayerCall& call) {
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

Outputs call_bi_tempered(const BiTemperedLoss& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("logits"), call.in("labels"))}};
}

constexpr LayerBinder kBinders[] = {binder<BaseNormalization, call_normalization>(),
                                    binder<Softmax, call_softmax>(),
                                    binder<BasePositionalEmbedding, call_positions>(),
                                    binder<RotaryPositionalEmbedding, call_rotary>(),
                                    binder<BiTemperedLoss, call_bi_tempered>(),
                                    binder<TokenCounter, call_token_counter>(),
                                    binder<MultitaskResidualAdapter, call_adapter>(),
                                    // Last: what fits no other.
                                    {[](const Layer&) { return true; },
                                     [](const Layer& layer, const LayerCall& call) {
                                       return Outputs{{"out", layer.fprop(call.first())}};
                                     }}};

Outputs call_z_loss(const LayerCall& call) { return {{"out", compute_z_loss(call.in("logits"))}}; }

constexpr FunctionBinder kFunctions[] = {{"_compute_z_loss", call_z_loss}};

}  // namespace

std::span<const LayerBinder> basic_binders() { return kBinders; }
std::span<const FunctionBinder> basic_functions() { return kFunctions; }

}  // namespace pax::golden
