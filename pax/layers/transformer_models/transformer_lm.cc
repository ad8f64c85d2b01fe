#include "pax/layers/transformer_models/transformer_lm.h"

#include "pax/base/error.h"
#include "pax/layers/attention/masks.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

std::span<const std::pair<LanguageModelType, std::string_view>> enum_names(LanguageModelType) {
  static constexpr std::pair<LanguageModelType, std::string_view> kNames[] = {
      {LanguageModelType::kCausal, "causal"},
      {LanguageModelType::kPrefix, "prefix"},
      {LanguageModelType::kBidirectional, "bidirectional"},
  };
  return kNames;
}

Tensor LanguageModelLayer::extend_step(const LmStep&) const { fail("this model does not decode step by step"); }

TransformerLm::TransformerLm(const Config& config, const Scope& scope)
    : LanguageModelLayer(config, scope), config_(config) {
  const std::string& path = this->scope().path();
  if (config.model_dims <= 0 || config.vocab_size <= 0) {
    pax::fail<ConfigError>("{}: model_dims is {}, vocab_size is {}; set both", path, config.model_dims,
                           config.vocab_size);
  }
  if (config.ngrammer_tpl) pax::fail<ConfigError>("{}: ngrammer_tpl is not supported; leave it out", path);
  if (config.position_emb_tpl) {
    auto tpl = config.position_emb_tpl.clone();
    tpl.set("embedding_dims", config.model_dims);
    position_emb_ = child("position_emb", tpl);
  }
  if (config.separate_embedding_tpl) {
    auto tpl = config.separate_embedding_tpl.clone();
    tpl.set("input_dims", config.model_dims);
    tpl.set("num_classes", config.vocab_size);
    embedding_lookup_ = child("embedding_lookup", tpl);
  }
  if (config.token_type_embedding_tpl) {
    auto tpl = config.token_type_embedding_tpl.clone();
    tpl.set("input_dims", config.model_dims);
    token_type_embedding_ = child("token_type_embedding", tpl);
  }
  if (config.embedding_ln_tpl) {
    auto tpl = config.embedding_ln_tpl.clone();
    tpl.set("dim", config.model_dims);
    embedding_ln_ = child("embedding_ln", tpl);
  }
  transformer_ = child("transformer", stack_template());
  if (config.final_ln_tpl) {
    auto tpl = config.final_ln_tpl.clone();
    tpl.set("dim", config.model_dims);
    final_ln_ = child("final_ln", tpl);
  }
  auto softmax = config.softmax_tpl.clone();
  softmax.try_set("input_dims", config.model_dims);
  softmax.try_set("num_classes", config.vocab_size);
  softmax_ = child("softmax", softmax);
}

Tpl<TransformerStack> TransformerLm::stack_template() const {
  Tpl<TransformerStack> stack = config_.stacked_transformer_tpl.clone();
  // The layers themselves may be inside of a pipeline and of a repeated block.
  Tpl<TransformerStack> layers = stack;
  if (layers.has_field("pipeline_stage")) layers = layers.get<Tpl<TransformerStack>>("pipeline_stage");
  if (layers.has_field("block")) layers = layers.get<Tpl<TransformerStack>>("block");
  const auto dims = layers.get<int64_t>("model_dims");
  if (dims != 0 && dims != config_.model_dims) {
    pax::fail<ConfigError>("{}: model_dims is {}, that of stacked_transformer_tpl is {}; leave the latter 0",
                           scope().path(), config_.model_dims, dims);
  }
  layers.set("model_dims", config_.model_dims);
  layers.set("mask_self_attention", config_.model_type == LanguageModelType::kCausal);
  layers.set("packed_input", config_.packed_input);
  layers.set("fold_padding_with_segment_mask", true);
  if (config_.post_attention_ngrammer_tpls) layers.set("ngrammer_tpls", config_.post_attention_ngrammer_tpls);
  return stack;
}

Tensor TransformerLm::embed(Tensor ids) const {
  return embedding_lookup_ ? embedding_lookup_->fprop(ids) : softmax_->emb_lookup(ids);
}

Tensor TransformerLm::finish_embedding(Tensor x, Tensor token_types) const {
  if (token_type_embedding_) {
    if (!token_types) token_types = full(graph(), {DType::kS32, x.shape().without(-1)}, 0);
    x = x + token_type_embedding_->fprop(token_types);
  }
  return embedding_ln_ ? embedding_ln_->fprop(x) : x;
}

Tensor TransformerLm::activations(const LmInputs& inputs) const {
  const int64_t batch = inputs.ids_bt.dim(0), length = inputs.ids_bt.dim(1);
  const Tensor real = reduce_sum(1.0 - convert(inputs.paddings_bt, DType::kF32));
  scope().add_summary("num_unpadded_tokens", real);
  scope().add_summary("ratio_unpadded_tokens", real / static_cast<double>(batch * length));

  Tensor segment_ids = inputs.segment_ids_bt, segment_pos = inputs.segment_pos_bt;
  if (!segment_ids) {
    segment_ids = convert(1.0 - convert(inputs.paddings_bt, DType::kF32), DType::kS32);
    segment_pos = iota(graph(), {DType::kS32, {batch, length}}, 1);
  }
  Tensor x = embed(inputs.ids_bt);
  if (position_emb_) x = x + position_emb_->embed(length, segment_pos);
  x = finish_embedding(x, inputs.token_types_bt);
  Tensor mask = inputs.segment_mask;
  if (!mask) {
    mask = config_.model_type == LanguageModelType::kBidirectional
               ? segment_mask(segment_ids, segment_ids, x.dtype())
               : causal_segment_mask(segment_ids, x.dtype(), inputs.causal_bt);
  }
  x = transformer_->fprop({.x_btd = x,
                           .paddings_bt = inputs.paddings_bt,
                           .segment_mask = mask,
                           .segment_pos_bt = segment_pos,
                           .cache = inputs.cache});
  return final_ln_ ? final_ln_->fprop(x) : x;
}

LmOutput TransformerLm::predict(const LmInputs& inputs) const {
  LmOutput output;
  const Tensor x = activations(inputs);
  if (config_.skip_compute_loss) {
    output.activations_btd = x;
    return output;
  }
  output = predictions(softmax_->get_logits(x));
  if (config_.record_activations_in_xent_output) output.activations_btd = x;
  return output;
}

LmOutput TransformerLm::fprop(const LmInputs& inputs, const LmLabels& labels) const {
  LmOutput output;
  const Tensor x = activations(inputs);
  if (config_.skip_compute_loss) {
    output.activations_btd = x;
    return output;
  }
  output = labelled_loss(softmax_->fprop(softmax_inputs(x, labels)), labels);
  if (config_.entropy_loss_weight) add_entropy_loss(output, labels);
  if (!config_.skip_aux_loss) add_aux_losses(scope(), output);
  if (config_.router_loss_weight) add_router_loss(output);
  if (config_.record_activations_in_xent_output) output.activations_btd = x;
  if (config_.record_logits_in_xent_output) output.logits = softmax_->get_logits(x);
  return output;
}

void TransformerLm::add_entropy_loss(LmOutput& output, const LmLabels& labels) const {
  const Tensor weights = convert(labels.class_weights_bt, DType::kF32);
  const Tensor logits = convert(output.logits, DType::kF32);
  const Tensor per_token = reduce_sum(softmax(logits) * log_softmax(logits), {-1});
  output.avg_entropy_loss = reduce_sum(per_token * weights) / reduce_sum(weights);
  scope().add_summary("avg_entropy_loss", output.avg_entropy_loss);
  output.total_loss = output.total_loss + output.avg_entropy_loss * *config_.entropy_loss_weight;
}

void TransformerLm::add_router_loss(LmOutput& output) const {
  const Tensor loss = router_balance_loss(scope());
  if (!loss) fail("router_loss_weight needs layers with gating_func dense_topk");
  scope().add_summary("router_loss", loss);
  output.total_loss = output.total_loss + loss * *config_.router_loss_weight;
}

Tensor TransformerLm::extend_step(const LmStep& step) const {
  const int64_t batch = step.ids_b.dim(0);
  Tensor x = embed(step.ids_b);
  if (position_emb_) {
    const Tensor position = step.segment_pos_b ? step.segment_pos_b : broadcast_to(step.time_step, {batch});
    x = x + squeeze(position_emb_->embed({}, expand_dims(position, 1)), {1});
  }
  x = finish_embedding(x, {});
  x = transformer_->extend_step({.x_bd = x,
                                 .time_step = step.time_step,
                                 .segment_pos_b = step.segment_pos_b,
                                 .mask = step.mask,
                                 .max_length = step.max_length,
                                 .cache = step.cache});
  if (final_ln_) x = final_ln_->fprop(x);
  return softmax_->get_logits(x);
}

template const config::ConfigType& config::type_of<TransformerLm::Config>();

}  // namespace pax
