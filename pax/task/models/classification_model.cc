#include "pax/task/models/classification_model.h"

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/sort.h"
#include "pax/task/models/batch_fields.h"

namespace pax {
namespace {

/// Weighted share of rows whose likeliest label is among the `k` largest logits.
Tensor top_k_accuracy(Tensor logits_bv, Tensor label_probs_bv, Tensor weights_b, int64_t k) {
  const Tensor wide = convert(logits_bv, DType::kF32);
  const Tensor threshold = index_dim(top_k(wide, k).first, 1, k - 1);
  const Tensor label = argmax(label_probs_bv, 1);
  const Tensor score = squeeze(take_along(wide, expand_dims(label, 1), 1), {1});
  const Tensor right = convert(ge(score, threshold), DType::kF32);
  return reduce_sum(right * weights_b) / maximum(reduce_sum(weights_b), 1.0);
}

}  // namespace

ClassificationModel::ClassificationModel(const Config& config, const Scope& scope)
    : BaseModel(config, scope), config_(config) {
  if (!config.network_tpl) pax::fail<ConfigError>("{}: network_tpl is missing; set it", this->scope().path());
  network_ = child("network", config.network_tpl);
  softmax_ = child("softmax", config.softmax_tpl);
}

ModelOutput ClassificationModel::compute_loss(const Tree<Tensor>& batch) const {
  const Tensor inputs = batch_field(batch, config_.input_field);
  const Tensor labels = batch_field(batch, config_.label_field);
  Tensor weights = optional_batch_field(batch, "weight");
  if (weights && weights.shape() != Shape{inputs.dim(0)}) {
    fail("batch field \"weight\" is " + to_string(weights.type()) + " for " + std::to_string(inputs.dim(0)) + " rows");
  }
  weights = weights ? convert(weights, DType::kF32) : full(graph(), {DType::kF32, {inputs.dim(0)}}, 1);
  const SoftmaxOutput out = softmax_->fprop({.inputs = network_->fprop(inputs),
                                             .class_weights = expand_dims(weights, 1),
                                             .class_ids = {},
                                             .class_probabilities = labels});
  const Tensor one = full(graph(), {DType::kF32, {}}, 1);
  ModelOutput output;
  output.metrics["avg_xent"] = {out.avg_xent, out.total_weight};
  output.metrics["num_predictions"] = {out.total_weight, one};
  const auto add_accuracy = [&](int64_t k, const char* accuracy, const char* error) {
    const Tensor value = top_k_accuracy(out.logits, labels, weights, k);
    output.metrics[accuracy] = {value, out.total_weight};
    output.metrics[error] = {1.0 - value, out.total_weight};
    scope().add_summary("acc" + std::to_string(k), value);
  };
  add_accuracy(1, "accuracy", "error");
  if (out.logits.dim(-1) > 5) add_accuracy(5, "acc5", "error5");
  output.per_example["labels"] = labels;
  output.per_example["scores"] = out.logits;
  return output;
}

ClassificationMLPModel::ClassificationMLPModel(const Config& config, const Scope& scope)
    : BaseModel(config, scope),
      mlp_layers_0_(child("mlp_layers_0", config.mlp_tpl)),
      softmax_(child("softmax", config.softmax_tpl)) {}

ModelOutput ClassificationMLPModel::compute_loss(const Tree<Tensor>& batch) const {
  const Tensor ids = batch_field(batch, "ids");
  const Tensor labels = batch_field(batch, "labels", "ids");
  const Tensor weights = convert(batch_field(batch, "weights", "ids"), DType::kF32);
  const SoftmaxOutput out = softmax_->fprop({.inputs = mlp_layers_0_->fprop(softmax_->emb_lookup(ids)),
                                             .class_weights = expand_dims(weights, 2),
                                             .class_ids = expand_dims(ids, 2),
                                             .class_probabilities = {}});
  const Tensor right = convert(eq(labels, convert(out.per_example_argmax, labels.dtype())), DType::kF32);
  const Tensor accuracy = reduce_sum(right * weights) / maximum(reduce_sum(weights), 1.0);
  ModelOutput output;
  output.metrics["total_loss"] = {accuracy, accuracy};
  return output;
}

template const config::ConfigType& config::type_of<ClassificationModel::Config>();
template const config::ConfigType& config::type_of<ClassificationMLPModel::Config>();

}  // namespace pax
