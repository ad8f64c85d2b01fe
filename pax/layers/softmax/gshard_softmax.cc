#include "pax/layers/softmax/gshard_softmax.h"

#include <cmath>

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/identity.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

GShardSharedEmbeddingSoftmax::GShardSharedEmbeddingSoftmax(const Config& config, const Scope& scope)
    : Softmax(config, scope), config_(config) {
  Linear::Config table;
  table.input_dims = config.num_classes;
  table.output_dims = config.input_dims;
  table.params_init = WeightInit::gaussian();
  table.weight_split_dims_mapping = config.weight_split_dims_mapping;
  table.activation_split_dims_mapping = config.activation_split_dims_mapping;
  embedding_ = child("embedding", table);
}

Tensor GShardSharedEmbeddingSoftmax::emb_lookup(Tensor ids) const {
  const Tensor hot = one_hot(ids, config_.num_classes, fprop_dtype());
  return shard(einsum("...y,yz->...z", hot, (*embedding_).weight()), "emb_out_split_dims_mapping");
}

Tensor GShardSharedEmbeddingSoftmax::get_logits(Tensor inputs) const {
  const Tensor scaled = inputs / std::sqrt(static_cast<double>(config_.input_dims));
  const Tensor logits =
      soft_cap(shard_out(einsum("...y,zy->...z", scaled, (*embedding_).weight())), config_.soft_cap_logits);
  const double most = config_.logits_abs_max.value_or(0.0);
  return most == 0 ? logits : clamp(-most, logits, most);
}

SoftmaxOutput GShardSharedEmbeddingSoftmax::fprop(const SoftmaxInputs& in) const {
  require_labels(in);
  const DType dtype = in.inputs.dtype();
  const Tensor logits = convert(get_logits(in.inputs), DType::kF32);
  const Tensor log_probs = log_softmax(logits);
  const Tensor weights = convert(in.class_weights, DType::kF32);
  const Tensor labels =
      stop_gradient(in.class_probabilities ? in.class_probabilities : class_one_hot(in.class_ids, config_.num_classes));
  const auto total_xent = [&](Tensor per_example) { return reduce_sum(expand_dims(per_example, -1) * weights); };
  const auto xent = [&](Tensor probabilities) { return -reduce_sum(log_probs * probabilities, {-1}); };

  SoftmaxOutput out;
  out.total_weight = reduce_sum(weights);
  out.avg_xent_weight = config_.use_tgt_labels_size_as_loss_denominator
                            ? full_like(out.total_weight, static_cast<double>(weights.shape().num_elements()))
                            : out.total_weight;
  Tensor smooth = labels;
  if (config_.label_smoothing_prob > 0 && !do_eval()) {
    const double off = config_.label_smoothing_prob / static_cast<double>(config_.num_classes);
    const double on = 1.0 - config_.label_smoothing_prob + off;
    smooth = labels * on + (1.0 - labels) * off;
    scope().add_summary("avg_xent_prior_to_label_smoothing", total_xent(xent(labels)) / out.avg_xent_weight);
  }
  out.per_example_xent = xent(smooth);
  out.per_example_argmax = argmax(logits, -1);
  const Tensor total = total_xent(out.per_example_xent);
  out.total_xent = convert(total, dtype);
  out.avg_xent = total / out.avg_xent_weight;

  const Tensor z_loss = reduce_sum(compute_z_loss(logits) * weights) / out.avg_xent_weight * config_.z_loss_weight;
  scope().add_summary("aux_z_loss", z_loss);
  scope().add_aux_loss("aux_z_loss", z_loss);
  out.logits = convert(logits, dtype);
  out.log_probs = convert(log_probs, dtype);
  return out;
}

template const config::ConfigType& config::type_of<GShardSharedEmbeddingSoftmax::Config>();

}  // namespace pax
