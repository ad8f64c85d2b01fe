#include "pax/task/models/language_model.h"

#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/task/models/batch_fields.h"
#include "pax/task/models/xent_metrics.h"

namespace pax {

LanguageModel::LanguageModel(const Config& config, const Scope& scope) : BaseModel(config, scope), config_(config) {
  auto lm = config.lm_tpl.clone();
  lm.set("model_type", config.model_type);
  lm_ = child("lm", lm);
}

LmInputs LanguageModel::inputs_of(const Tree<Tensor>& batch) const {
  LmInputs inputs{.ids_bt = batch_field(batch, "ids"), .paddings_bt = batch_field(batch, "paddings", "ids")};
  if (config_.lm_tpl.get_or("packed_input", false)) {
    inputs.segment_ids_bt = batch_field(batch, "segment_ids", "ids");
    inputs.segment_pos_bt = batch_field(batch, "segment_pos", "ids");
    inputs.segment_mask = optional_batch_field(batch, "segment_mask");
  }
  if (config_.model_type == LanguageModelType::kBidirectional) inputs.causal_bt = zeros_like(inputs.ids_bt);
  if (config_.model_type == LanguageModelType::kPrefix) {
    inputs.causal_bt = 1.0 - batch_field(batch, "inputs_indicator", "ids");
  }
  return inputs;
}

ModelOutput LanguageModel::compute_loss(const Tree<Tensor>& batch) const {
  const XentOptions options{.apply_eval_sample_weights = config_.apply_eval_sample_weights,
                            .report_strict_acc = config_.report_strict_acc,
                            .return_predictions = config_.return_predictions};
  const LmOutput predictions = lm_->fprop(inputs_of(batch), {.class_ids_bt = batch_field(batch, "labels", "ids"),
                                                             .class_weights_bt = token_weights(batch, options)});
  return xent_metrics(predictions, batch, options);
}

}  // namespace pax
