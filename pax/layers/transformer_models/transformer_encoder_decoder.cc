#include "pax/layers/transformer_models/transformer_encoder_decoder.h"

#include "pax/base/error.h"
#include "pax/layers/attention/masks.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"

namespace pax {
namespace {

/// 1 at what is no padding.
Tensor one_segment(Tensor paddings) { return convert(1.0 - convert(paddings, DType::kF32), DType::kS32); }

}  // namespace

TransformerEncoderDecoder::TransformerEncoderDecoder(const Config& config, const Scope& scope)
    : SequenceModelLayer(config, scope), config_(config) {
  const std::string& path = this->scope().path();
  if (config.encoder_ngrammer_tpl || config.decoder_ngrammer_tpl || config.encoder_post_attention_ngrammer_tpls ||
      config.decoder_post_attention_ngrammer_tpls) {
    pax::fail<ConfigError>("{}: ngrammer templates are not supported; leave them out", path);
  }
  if (config.position_emb_tpl && (config.encoder_position_emb_tpl || config.decoder_position_emb_tpl)) {
    pax::fail<ConfigError>("{}: set position_emb_tpl, or those of encoder and decoder, not both", path);
  }
  position_emb_ = positions("position_emb", config.position_emb_tpl);
  encoder_position_emb_ = positions("encoder_position_emb", config.encoder_position_emb_tpl);
  encoder_ = child("encoder", stack_template(config.encoder_stacked_transformer_tpl, Side::kEncoder));
  encoder_embedding_lookup_ = embedding("encoder_embedding_lookup", config.encoder_embedding_tpl);
  const auto norm = [&](std::string_view name, const Tpl<Layer>& tpl) {
    if (!tpl) return Child<Layer>();
    auto own = tpl.clone_unshared();
    own.set("dim", config.model_dims);
    return child(name, own);
  };
  encoder_ln_ = norm("encoder_ln", config.encoder_ln_tpl);
  decoder_position_emb_ = positions("decoder_position_emb", config.decoder_position_emb_tpl);
  decoder_ = child("decoder", stack_template(config.decoder_stacked_transformer_tpl, Side::kDecoder));
  decoder_embedding_lookup_ = embedding("decoder_embedding_lookup", config.decoder_embedding_tpl);
  decoder_ln_ = norm("decoder_ln", config.decoder_ln_tpl);
  auto softmax = config.softmax_tpl.clone();
  softmax.set("input_dims", config.model_dims);
  softmax_ = child("softmax", softmax);
}

Tpl<TransformerStack> TransformerEncoderDecoder::stack_template(const Tpl<TransformerStack>& tpl, Side side) const {
  const bool decoder = side == Side::kDecoder;
  const char* name = decoder ? "decoder_stacked_transformer_tpl" : "encoder_stacked_transformer_tpl";
  if (!tpl) pax::fail<ConfigError>("{}: {} is missing; set it", scope().path(), name);
  Tpl<TransformerStack> stack = tpl.clone();
  Tpl<TransformerStack> layers = stack;
  if (layers.has_field("pipeline_stage")) layers = layers.get<Tpl<TransformerStack>>("pipeline_stage");
  if (layers.has_field("block")) layers = layers.get<Tpl<TransformerStack>>("block");
  if (layers.get<bool>("mask_self_attention") != decoder) {
    pax::fail<ConfigError>("{}: {}.mask_self_attention must be {}", scope().path(), name, decoder);
  }
  layers.set("model_dims", config_.model_dims);
  layers.set("packed_input", config_.packed_input);
  return stack;
}

Child<BasePositionalEmbedding> TransformerEncoderDecoder::positions(std::string_view name,
                                                                    const Tpl<BasePositionalEmbedding>& tpl) const {
  if (!tpl) return {};
  auto own = tpl.clone();
  own.set("embedding_dims", config_.model_dims);
  return child(name, own);
}

Child<Layer> TransformerEncoderDecoder::embedding(std::string_view name, const Tpl<Layer>& tpl) const {
  if (!tpl) return {};
  auto own = tpl.clone();
  own.set("input_dims", config_.model_dims);
  return child(name, own);
}

Tensor TransformerEncoderDecoder::embed(Tensor ids, Side side) const {
  if (side == Side::kEncoder && encoder_embedding_lookup_) return encoder_embedding_lookup_->fprop(ids);
  return decoder_embedding_lookup_ ? decoder_embedding_lookup_->fprop(ids) : softmax_->emb_lookup(ids);
}

Tensor TransformerEncoderDecoder::add_positions(Tensor x_btd, Tensor position_bt, Side side) const {
  const auto& own = side == Side::kEncoder ? encoder_position_emb_ : decoder_position_emb_;
  if (position_emb_) return x_btd + position_emb_->embed(x_btd.dim(1), position_bt);
  return own ? x_btd + own->embed(x_btd.dim(1), position_bt) : x_btd;
}

Tensor TransformerEncoderDecoder::encode(const SequenceInputs& inputs) const {
  const int64_t batch = inputs.ids_bs.dim(0), length = inputs.ids_bs.dim(1);
  Tensor segment_ids = inputs.segment_ids_bs, segment_pos = inputs.segment_pos_bs;
  if (!segment_ids) {
    segment_ids = one_segment(inputs.paddings_bs);
    segment_pos = iota(graph(), {DType::kS32, {batch, length}}, 1);
  }
  const Tensor x = add_positions(embed(inputs.ids_bs, Side::kEncoder), segment_pos, Side::kEncoder);
  const Tensor encoded = encoder_->fprop({.x_btd = x,
                                          .paddings_bt = inputs.paddings_bs,
                                          .segment_mask = segment_mask(segment_ids, {}, x.dtype()),
                                          .segment_pos_bt = segment_pos});
  return encoder_ln_ ? encoder_ln_->fprop(encoded) : encoded;
}

Tensor TransformerEncoderDecoder::decode(const SequenceInputs& inputs, Tensor encoded_bsd) const {
  const int64_t batch = inputs.targets_bt.dim(0), length = inputs.targets_bt.dim(1);
  Tensor segment_ids = inputs.target_segment_ids_bt, segment_pos = inputs.target_segment_pos_bt;
  if (!segment_ids) {
    segment_ids = one_segment(inputs.target_paddings_bt);
    segment_pos = iota(graph(), {DType::kS32, {batch, length}}, 1);
  }
  const Tensor sources = inputs.segment_ids_bs ? inputs.segment_ids_bs : one_segment(inputs.paddings_bs);
  const Tensor x = add_positions(embed(inputs.targets_bt, Side::kDecoder), segment_pos, Side::kDecoder);
  const Tensor decoded = decoder_->fprop({.x_btd = x,
                                          .paddings_bt = inputs.target_paddings_bt,
                                          .segment_mask = causal_segment_mask(segment_ids, x.dtype()),
                                          .cross_bsd = encoded_bsd,
                                          .cross_paddings_bs = inputs.paddings_bs,
                                          .cross_segment_mask = segment_mask(segment_ids, sources, x.dtype()),
                                          .segment_pos_bt = segment_pos,
                                          .cache = inputs.cache});
  return decoder_ln_ ? decoder_ln_->fprop(decoded) : decoded;
}

LmOutput TransformerEncoderDecoder::predict(const SequenceInputs& inputs) const {
  return predictions(softmax_->get_logits(decode(inputs, encode(inputs))));
}

LmOutput TransformerEncoderDecoder::fprop(const SequenceInputs& inputs, const LmLabels& labels) const {
  const Tensor x = decode(inputs, encode(inputs));
  LmOutput output = labelled_loss(softmax_->fprop(softmax_inputs(x, labels)), labels);
  add_aux_losses(scope(), output);
  return output;
}

Tensor TransformerEncoderDecoder::extend_step(const SequenceStep& step) const {
  const Tensor position = step.segment_pos_b ? step.segment_pos_b : broadcast_to(step.time_step, {step.ids_b.dim(0)});
  const Tensor embedded = expand_dims(embed(step.ids_b, Side::kDecoder), 1);
  const Tensor x = squeeze(add_positions(embedded, expand_dims(position, 1), Side::kDecoder), {1});
  const Tensor decoded = decoder_->extend_step({.x_bd = x,
                                                .time_step = step.time_step,
                                                .segment_pos_b = step.segment_pos_b,
                                                .cross_paddings_bs = step.paddings_bs,
                                                .max_length = step.max_length,
                                                .cache = step.cache});
  const Tensor normed = decoder_ln_ ? decoder_ln_->fprop(decoded) : decoded;
  return softmax_->get_logits(normed);
}

template const config::ConfigType& config::type_of<TransformerEncoderDecoder::Config>();

}  // namespace pax
