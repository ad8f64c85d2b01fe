#include "pax/task/models/xent_metrics.h"

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/task/models/batch_fields.h"

namespace pax {
namespace {

Tensor f32(Tensor x) { return convert(x, DType::kF32); }

/// Rows with every weighted token right, over rows that are no padding.
TracedMetric strict_accuracy(Tensor right_bt, Tensor weights_bt, Tensor row_weights_b) {
  const Tensor all = reduce_sum(weights_bt, {-1});
  const Tensor right = reduce_sum(right_bt * weights_bt, {-1});
  const Tensor strict = logical_and(eq(right, all), ne(convert(row_weights_b, DType::kS32), 0.0));
  const Tensor rows = reduce_sum(f32(row_weights_b));
  return {.value = reduce_sum(f32(strict)) / maximum(rows, 1.0), .weight = rows};
}

}  // namespace

Tensor token_weights(const Tree<Tensor>& batch, const XentOptions& options) {
  const Tensor weights = batch_field(batch, "weights", "labels");
  if (!options.apply_eval_sample_weights) return weights;
  return weights * expand_dims(convert(batch_field(batch, "eval_sample_weights"), weights.dtype()), -1);
}

ModelOutput xent_metrics(const LmOutput& predictions, const Tree<Tensor>& batch, const XentOptions& options) {
  const Tensor labels = batch_field(batch, "labels");
  const Tensor weights = f32(token_weights(batch, options));
  const Tensor right = f32(eq(labels, convert(predictions.per_example_argmax, labels.dtype())));
  const Tensor num_preds = f32(predictions.total_weight);
  const Tensor accuracy = reduce_sum(right * weights) / maximum(num_preds, 1.0);
  const Tensor xent_weight = predictions.avg_xent_weight ? f32(predictions.avg_xent_weight) : num_preds;
  const Tensor one = full_like(num_preds, 1.0);

  ModelOutput output;
  output.metrics["total_loss"] = {f32(predictions.total_loss), num_preds};
  output.metrics["avg_xent"] = {f32(predictions.avg_xent), xent_weight};
  output.metrics["aux_loss"] = {predictions.aux_loss ? f32(predictions.aux_loss) : zeros_like(num_preds), one};
  output.metrics["log_pplx"] = {f32(predictions.avg_xent), xent_weight};
  output.metrics["fraction_of_correct_next_step_preds"] = {accuracy, num_preds};
  output.metrics["num_predictions"] = {num_preds, one};
  if (options.report_strict_acc) {
    output.metrics["acc_strict"] = strict_accuracy(right, weights, batch_field(batch, "eval_sample_weights"));
  }
  output.per_example["labels"] = labels;
  output.per_example["scores"] = -predictions.per_sequence_xent;
  if (options.apply_eval_sample_weights) {
    output.per_example["eval_sample_weights"] = batch_field(batch, "eval_sample_weights");
  }
  if (options.return_predictions) {
    output.per_example["per_example_argmax"] = predictions.per_example_argmax;
    output.per_example["per_example_xent"] = predictions.per_example_xent;
    output.per_example["per_token_xent"] = predictions.per_token_xent;
    output.per_example["per_sequence_xent"] = predictions.per_sequence_xent;
    if (predictions.logits) output.per_example["logits"] = predictions.logits;
  }
  return output;
}

}  // namespace pax
