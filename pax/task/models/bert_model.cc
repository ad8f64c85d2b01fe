#include "pax/task/models/bert_model.h"

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "pax/task/models/batch_fields.h"

namespace pax {

MaskedLmDataAugmenter::MaskedLmDataAugmenter(const Config& config, const Scope& scope)
    : Layer(config, scope), config_(config) {
  const double all = config.mask_prob + config.random_prob + config.same_prob;
  if (config.vocab_size <= 0 || config.mask_token_id < 0 || all <= 0 || all >= 1) {
    pax::fail<ConfigError>("{}: vocab_size {} and mask_token_id {} must be set, probabilities add up to {} of (0, 1)",
                           this->scope().path(), config.vocab_size, config.mask_token_id, all);
  }
}

MaskedLmDataAugmenter::Augmented MaskedLmDataAugmenter::augment(Tensor ids_bt, Tensor paddings_bt) const {
  const TensorType draws{DType::kF32, ids_bt.shape()};
  const auto chance = [&](int64_t index, double p) { return lt(random_uniform(scope().random_key(index), draws), p); };
  const double all = config_.mask_prob + config_.random_prob + config_.same_prob;
  const Tensor hidden = logical_and(eq(paddings_bt, 0.0), chance(1, all));
  const Tensor masked = logical_and(hidden, chance(2, config_.mask_prob / all));
  const Tensor left = logical_and(hidden, logical_not(masked));
  const Tensor random = logical_and(left, chance(3, config_.random_prob / (all - config_.mask_prob)));
  const Tensor any = random_integers(scope().random_key(4), ids_bt.type(), 0, config_.vocab_size);
  const Tensor mask = full(graph(), {ids_bt.dtype(), {}}, static_cast<double>(config_.mask_token_id));
  return {.ids_bt = select(masked, mask, select(random, any, ids_bt)), .hidden_bt = convert(hidden, DType::kF32)};
}

BertModel::BertModel(const Config& config, const Scope& scope)
    : BaseModel(config, scope), force_mask_generation_(config.force_mask_generation) {
  auto lm = config.lm_tpl.clone();
  const auto type = lm.get_or("model_type", LanguageModelType::kBidirectional);
  if (type != LanguageModelType::kBidirectional || !lm.get_or("packed_input", true)) {
    pax::fail<ConfigError>("{}: lm_tpl needs model_type bidirectional and packed_input", this->scope().path());
  }
  if (config.label_smoothing_prob) lm.set("softmax_tpl.label_smoothing_prob", *config.label_smoothing_prob);
  lm_ = child("lm", lm);
  MaskedLmDataAugmenter::Config augmenter;
  augmenter.vocab_size = lm.get<int64_t>("vocab_size");
  augmenter.mask_token_id = config.mask_token_id;
  mlm_augmenter_ = child("mlm_augmenter", augmenter);
}

ModelOutput BertModel::compute_loss(const Tree<Tensor>& batch) const {
  const Tensor labels = batch_field(batch, "labels");
  const Tensor paddings = batch_field(batch, "paddings", "labels");
  const Tensor segment_ids = batch_field(batch, "segment_ids", "labels");
  MaskedLmDataAugmenter::Augmented augmented;
  if (!force_mask_generation_ && optional_batch_field(batch, "masked_ids")) {
    augmented = {batch_field(batch, "masked_ids", "labels"), batch_field(batch, "masked_pos", "labels")};
  } else {
    augmented = mlm_augmenter_->augment(labels, paddings);
  }
  const Tensor weights = convert(augmented.hidden_bt, DType::kF32);
  const LmOutput out = lm_->fprop({.ids_bt = augmented.ids_bt,
                                   .paddings_bt = paddings,
                                   .segment_ids_bt = segment_ids,
                                   .segment_pos_bt = batch_field(batch, "segment_pos", "labels")},
                                  {.class_ids_bt = labels, .class_weights_bt = weights});
  const Tensor right = convert(eq(labels, convert(out.per_example_argmax, labels.dtype())), DType::kF32);
  const Tensor count = convert(out.total_weight, DType::kF32), one = full_like(count, 1);
  const Tensor rows = reduce_sum(reduce_max(convert(segment_ids, DType::kF32), {1}));
  ModelOutput output;
  output.metrics["total_loss"] = {out.total_loss, count};
  output.metrics["avg_xent"] = {out.avg_xent, count};
  output.metrics["aux_loss"] = {out.aux_loss ? out.aux_loss : zeros_like(count), count};
  output.metrics["log_pplx"] = {out.avg_xent, count};
  output.metrics["fraction_of_correct_preds"] = {reduce_sum(right * weights) / maximum(count, 1.0), count};
  output.metrics["num_predictions"] = {count, one};
  output.metrics["num_tokens"] = {reduce_sum(1.0 - convert(paddings, DType::kF32)), one};
  output.metrics["num_seqs"] = {rows, one};
  output.per_example["per_sequence_xent"] = out.per_sequence_xent;
  output.per_example["predicted_labels"] = convert(out.per_example_argmax, labels.dtype());
  output.per_example["augmented_labels"] = augmented.ids_bt;
  return output;
}

template const config::ConfigType& config::type_of<MaskedLmDataAugmenter::Config>();
template const config::ConfigType& config::type_of<BertModel::Config>();

}  // namespace pax
