#include "pax/layers/softmax/full_softmax.h"

#include <cmath>

#include "pax/base/error.h"
#include "pax/control/remat.h"
#include "pax/control/scan.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

FullSoftmax::FullSoftmax(const Config& config, const Scope& scope)
    : FullSoftmax(config, scope, Projection::kFeedForward) {}

FullSoftmax::FullSoftmax(const Config& config, const Scope& scope, Projection projection)
    : Softmax(config, scope), config_(config) {
  if (projection == Projection::kFeedForward && config.feed_forward_tpl) {
    Tpl<Layer> ffn = config.feed_forward_tpl.clone();
    ffn.set("input_dims", config.input_dims);
    ffn.set("output_dims", config.num_classes);
    ffn.set("activation_tpl", Identity::Config{});
    ffn.set("bias_init", config.bias_init);
    ffn.set("weight_split_dims_mapping", config.weight_split_dims_mapping);
    ffn.set("activation_split_dims_mapping", config.activation_split_dims_mapping);
    logits_ffn_ = child("logits_ffn", ffn);
  }
  if (config.bi_tempered_loss_tpl) bi_tempered_loss_ = child("bi_tempered_loss", config.bi_tempered_loss_tpl);
}

Tensor FullSoftmax::get_logits(Tensor inputs) const {
  if (config_.scale_before_logits) inputs = inputs / std::sqrt(static_cast<double>(config_.input_dims));
  const Tensor logits = logits_ffn_ ? logits_ffn_->fprop(inputs) : inputs;
  return soft_cap(logits, config_.soft_cap_logits);
}

Tensor FullSoftmax::labels(Tensor class_ids) const {
  const Tensor hot = class_one_hot(class_ids, config_.num_classes);
  if (config_.label_smoothing_prob <= 0 || (do_eval() && !config_.label_smoothing_apply_for_eval)) return hot;
  const double others = config_.label_smoothing_prob / static_cast<double>(config_.num_classes - 1);
  return hot * (1.0 - config_.label_smoothing_prob) + (1.0 - hot) * others;
}

FullSoftmax::Xent FullSoftmax::compute_xent(Tensor inputs, Tensor class_ids, Tensor class_probabilities) const {
  Xent out;
  out.logits = convert(get_logits(inputs), DType::kF32);
  out.log_probs = log_softmax(out.logits);
  const Tensor probabilities = class_probabilities ? class_probabilities : stop_gradient(labels(class_ids));
  out.per_example_xent = bi_tempered_loss_ ? bi_tempered_loss_->fprop(out.logits, probabilities)
                                           : -reduce_sum(out.log_probs * probabilities, {-1});
  out.per_example_argmax = argmax(out.logits, -1);
  return out;
}

FullSoftmax::Xent FullSoftmax::compute_xent_by_chunks(Tensor inputs, Tensor class_ids) const {
  const int64_t length = inputs.dim(1), size = *config_.chunk_size;
  const int64_t chunks = (length + size - 1) / size;
  const auto chunked = [&](Tensor x) {
    return move_dim(split_dim(pad_dim(x, 1, 0, chunks * size - length), 1, {chunks, size}), 1, 0);
  };
  const auto whole = [&](Tensor x) { return slice_dim(merge_dims(move_dim(x, 0, 1), 1, 2), 1, 0, length); };

  const ScanOptions options{.length = chunks, .remat = remat_policy(AutodiffCheckpointType::kSaveNothing)};
  const std::vector<Tensor> xs{chunked(inputs), chunked(class_ids)};
  const std::vector<Tensor> ys =
      scan(graph(), options, {}, xs, [&](std::span<const Tensor>, std::span<const Tensor> x) {
        const Xent chunk = compute_xent(x[0], x[1], {});
        return ScanStep{.carry = {}, .ys = {chunk.per_example_xent, chunk.per_example_argmax}};
      }).ys;
  return {.per_example_xent = whole(ys[0]), .per_example_argmax = whole(ys[1]), .logits = {}, .log_probs = {}};
}

SoftmaxOutput FullSoftmax::fprop(const SoftmaxInputs& in) const {
  require_labels(in);
  const int64_t chunk_size = config_.chunk_size.value_or(0);
  const bool by_chunks = chunk_size > 0 && !in.class_probabilities && in.inputs.rank() == 3 &&
                         in.inputs.dim(1) >= chunk_size && config_.z_loss_weight <= 0;
  const Xent xent = by_chunks ? compute_xent_by_chunks(in.inputs, in.class_ids)
                              : compute_xent(in.inputs, in.class_ids, in.class_probabilities);

  const Tensor weights = convert(in.class_weights, DType::kF32);
  SoftmaxOutput out;
  out.per_example_xent = xent.per_example_xent;
  out.per_example_argmax = xent.per_example_argmax;
  out.total_xent = reduce_sum(expand_dims(xent.per_example_xent, -1) * weights);
  out.total_weight = reduce_sum(weights);
  out.avg_xent = out.total_xent / (out.total_weight + 1e-6);
  if (config_.z_loss_weight > 0) {
    out.z_loss = reduce_sum(compute_z_loss(xent.logits) * weights) / out.total_weight * config_.z_loss_weight;
    scope().add_summary("aux_z_loss", out.z_loss);
    scope().add_aux_loss("aux_z_loss", out.z_loss);
  }
  if (xent.logits) {
    out.logits = convert(xent.logits, in.inputs.dtype());
    out.log_probs = convert(xent.log_probs, in.inputs.dtype());
  }
  if (in.class_ids) {
    const Tensor right = eq(expand_dims(xent.per_example_argmax, -1), convert(in.class_ids, DType::kS32));
    out.accuracy = reduce_sum(convert(right, DType::kF32) * weights) / out.total_weight;
  }
  return out;
}

SharedEmbeddingSoftmax::SharedEmbeddingSoftmax(const Config& config, const Scope& scope)
    : SharedEmbeddingSoftmax(config, scope, Projection::kFeedForward) {}

SharedEmbeddingSoftmax::SharedEmbeddingSoftmax(const Config& config, const Scope& scope, Projection projection)
    : FullSoftmax(config, scope, projection),
      lookup_style_(config.lookup_style),
      scale_(config.scale_sqrt_depth ? std::optional(std::sqrt(static_cast<double>(config.input_dims))) : std::nullopt),
      array_lookup_(child("array_lookup", config.array_lookup_tpl)),
      einsum_(child("einsum", config.einsum_tpl)) {}

Tensor SharedEmbeddingSoftmax::lookup(Tensor table, Tensor ids) const {
  Tensor embs = TableLookup{*array_lookup_, *einsum_}(lookup_style_, table, ids);
  if (scale_) embs = embs * *scale_;
  return shard(embs, "emb_out_split_dims_mapping");
}

Tensor SharedEmbeddingSoftmax::emb_lookup(Tensor ids) const {
  const auto* ffn = dynamic_cast<const FeedForward*>(logits_ffn());
  if (ffn == nullptr) fail("embeddings are rows of feed_forward_tpl's matrix, so that must be a FeedForward");
  return lookup(transpose(ffn->linear().weight(), {1, 0}), ids);
}

NClassMajorSharedEmbeddingSoftmax::NClassMajorSharedEmbeddingSoftmax(const Config& config, const Scope& scope)
    : SharedEmbeddingSoftmax(config, scope, Projection::kOwn), soft_cap_logits_(config.soft_cap_logits) {
  std::vector<std::vector<std::string>> split = weight_split("wt");
  if (split.size() == 2) std::swap(split[0], split[1]);
  w_ = param("w", {.shape = {config.num_classes, config.input_dims}, .split = std::move(split)});
  if (config.use_bias) {
    Bias::Config bias;
    bias.dims = config.num_classes;
    bias.bias_init = config.bias_init;
    bias.weight_split_dims_mapping = bias_split(config.activation_split_dims_mapping);
    bias_ = child("bias", Tpl<Layer>(bias));
  }
  activation_ = child("activation", config.activation_tpl);
}

Tensor NClassMajorSharedEmbeddingSoftmax::get_logits(Tensor inputs) const {
  Tensor logits = shard_out(einsum_op().einsum("...y,zy->...z", inputs, w_));
  if (bias_) logits = bias_->fprop(logits);
  logits = activation_->fprop(logits);
  return soft_cap(logits, soft_cap_logits_);
}

Tensor NClassMajorSharedEmbeddingSoftmax::emb_lookup(Tensor ids) const { return lookup(w_, ids); }

template const config::ConfigType& config::type_of<FullSoftmax::Config>();
template const config::ConfigType& config::type_of<SharedEmbeddingSoftmax::Config>();
template const config::ConfigType& config::type_of<NClassMajorSharedEmbeddingSoftmax::Config>();

}  // namespace pax
