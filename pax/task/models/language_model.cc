#include "pax/task/models/language_model.h"

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/task/models/batch_fields.h"
#include "pax/task/models/xent_metrics.h"

namespace pax {
namespace {

class LmDecodeModel final : public DecodeModel {
 public:
  LmDecodeModel(const Child<LanguageModelLayer>& lm, const Scope& scope, LanguageModelType type)
      : lm_(lm), scope_(scope), type_(type) {}

  Graph& graph() const override { return scope_.graph(); }
  Tree<Tensor> prefill(const Prompt& prompt) const override {
    Tree<Tensor> cache;
    Tensor causal = prompt.causal_bt;
    if (!causal && type_ == LanguageModelType::kPrefix) causal = zeros_like(prompt.ids_bt);
    lm_->activations({.ids_bt = prompt.ids_bt,
                      .paddings_bt = prompt.paddings_bt,
                      .segment_ids_bt = prompt.segment_ids_bt,
                      .segment_pos_bt = prompt.segment_pos_bt,
                      .causal_bt = causal,
                      .cache = &cache});
    return cache;
  }
  Tensor step(const DecodeStep& step, Tree<Tensor>& cache) const override {
    return lm_->extend_step({.ids_b = step.ids_b,
                             .time_step = step.time_step,
                             .segment_pos_b = step.segment_pos_b,
                             .max_length = step.max_length,
                             .cache = &cache});
  }
  Tensor random_key() const override { return scope_.random_key(); }

 private:
  const Child<LanguageModelLayer>& lm_;
  const Scope& scope_;
  const LanguageModelType type_;
};

}  // namespace

LanguageModel::LanguageModel(const Config& config, const Scope& scope) : BaseModel(config, scope), config_(config) {
  auto lm = config.lm_tpl.clone();
  lm.set("model_type", config.model_type);
  lm_ = child("lm", lm);
  if (config.count_tokens) token_counter_ = child("token_counter", TokenCounter::Config{});
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
  const LmInputs inputs = inputs_of(batch);
  if (token_counter_) token_counter_->count(inputs.paddings_bt);
  const LmOutput predictions = lm_->fprop(
      inputs, {.class_ids_bt = batch_field(batch, "labels", "ids"), .class_weights_bt = token_weights(batch, options)});
  return xent_metrics(predictions, batch, options);
}

DecodeInputs LanguageModel::prompts_of(const Tree<Tensor>& batch) const {
  const Tensor ids = batch_field(batch, "ids");
  DecodeInputs inputs{.ids_bt = ids, .options = batch};
  const Tensor lengths = optional_batch_field(batch, "prefix_lengths");
  const Tensor indicator = optional_batch_field(batch, "inputs_indicator");
  const bool prefix = config_.model_type == LanguageModelType::kPrefix;
  if (lengths) {
    inputs.lengths_b = convert(lengths, DType::kS32);
  } else if (prefix) {
    inputs.lengths_b = reduce_sum(convert(batch_field(batch, "inputs_indicator", "ids"), DType::kS32), {1});
  } else {
    inputs.lengths_b = reduce_sum(1.0 - convert(batch_field(batch, "paddings", "ids"), DType::kS32), {1});
  }
  const Tensor place = iota(graph(), {DType::kS32, ids.shape()}, 1);
  const Tensor behind = ge(place, expand_dims(inputs.lengths_b, 1));
  const Tensor paddings = optional_batch_field(batch, "paddings");
  inputs.paddings_bt = paddings ? paddings : convert(behind, DType::kF32);
  if (prefix) inputs.causal_bt = indicator ? 1.0 - convert(indicator, DType::kS32) : convert(behind, DType::kS32);
  return inputs;
}

Tree<Tensor> LanguageModel::decode(const Tree<Tensor>& batch) const {
  return config_.decoder_tpl.build()->decode(*decode_model(), prompts_of(batch));
}

std::unique_ptr<DecodeModel> LanguageModel::decode_model() const {
  if (config_.model_type == LanguageModelType::kBidirectional) fail("a bidirectional model does not decode");
  return std::make_unique<LmDecodeModel>(lm_, scope(), config_.model_type);
}

template const config::ConfigType& config::type_of<LanguageModel::Config>();

}  // namespace pax
