#include "pax/layers/transformer_models/lm_loss.h"

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

LmOutput predictions(Tensor logits) {
  LmOutput output;
  const Tensor wide = convert(logits, DType::kF32);
  output.logits = logits;
  output.log_probs = convert(log_softmax(wide), logits.dtype());
  output.probs = convert(softmax(wide), logits.dtype());
  return output;
}

SoftmaxInputs softmax_inputs(Tensor activations, const LmLabels& labels) {
  return {.inputs = activations,
          .class_weights = expand_dims(labels.class_weights_bt, -1),
          .class_ids = labels.class_ids_bt ? expand_dims(labels.class_ids_bt, -1) : Tensor(),
          .class_probabilities = labels.class_probabilities_btv};
}

LmOutput labelled_loss(const SoftmaxOutput& xent, const LmLabels& labels) {
  LmOutput output;
  static_cast<SoftmaxOutput&>(output) = xent;
  output.per_token_xent = output.per_example_xent * convert(labels.class_weights_bt, DType::kF32);
  output.per_sequence_xent = reduce_sum(output.per_token_xent, {-1});
  output.total_loss = output.avg_xent;
  return output;
}

void add_aux_losses(const Scope& scope, LmOutput& output) {
  Graph& graph = scope.graph();
  Tensor value = full(graph, {DType::kF32, {}}, 0.0);
  Tensor weight = value;
  const std::string inside = scope.path().empty() ? "" : scope.path() + "/";
  // By value: reductions below are new nodes of the same block.
  const std::vector<SideResult> sides = graph.block(graph.current_block()).sides;
  for (const SideResult& side : sides) {
    if (!side.name.starts_with(inside)) continue;
    if (side.channel == "aux_loss") value = value + convert(reduce_sum(side.value), DType::kF32);
    if (side.channel == "aux_loss_weight") weight = weight + convert(reduce_sum(side.value), DType::kF32);
  }
  scope.add_summary("total_aux_loss", value);
  scope.add_summary("total_aux_loss_weight", weight);
  output.aux_loss = value;
  output.aux_loss_weight = weight;
  output.total_loss = output.total_loss + value;
}

Tensor router_balance_loss(const Scope& scope) {
  Graph& graph = scope.graph();
  const std::string inside = scope.path().empty() ? "" : scope.path() + "/";
  // By value: reductions below are new nodes of the same block.
  const std::vector<SideResult> sides = graph.block(graph.current_block()).sides;
  const auto total = [&](std::string_view channel, int64_t rank) {
    Tensor sum;
    for (const SideResult& side : sides) {
      if (side.channel != channel || !side.name.starts_with(inside)) continue;
      Tensor value = side.value;  // loops have stacked it
      while (value.rank() > rank) value = reduce_sum(value, {0});
      sum = sum ? sum + value : value;
    }
    return sum;
  };
  const Tensor tokens = total("router_tokens", 0);
  if (!tokens) return {};
  const Tensor choices = total("router_choices", 1) / tokens, probs = total("router_probs", 1) / tokens;
  return reduce_sum(choices * probs) * static_cast<double>(probs.dim(0));
}

}  // namespace pax
