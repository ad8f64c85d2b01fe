#include "pax/layers/transformers/transformer.h"

#include "pax/base/error.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

Tensor TransformerLayer::extend_step(const TransformerStep&) const { fail("this layer does not decode step by step"); }

Transformer::Transformer(const Config& config, const Scope& scope) : TransformerLayer(config, scope), config_(config) {
  self_norms_ = norms("layer_norm", "pre_layer_norm", "post_layer_norm");
  self_attention_ = attention("self_attention", config.tr_atten_tpl);
  auto dropout = config.dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.residual_dropout_prob);
  residual_dropout_ = child("residual_dropout", dropout);
  if (config.use_cross_attention) {
    cross_norms_ = norms("cross_layer_norm", "pre_cross_layer_norm", "post_cross_layer_norm");
    cross_attention_ =
        attention("cross_attention", config.cross_atten_tpl ? config.cross_atten_tpl : config.tr_atten_tpl);
  }
  if (config.residual_droppath_prob > 0) {
    StochasticResidual::Config droppath;
    droppath.survival_prob = 1.0 - config.residual_droppath_prob;
    residual_droppath_ = child("residual_droppath", droppath);
  }
  if (!config.tr_fflayer_tpl) return;
  auto ffn = config.tr_fflayer_tpl.clone();
  ffn.set("input_dims", config.input_dims);
  ffn.set("hidden_dims", config.hidden_dims);
  ffn.set("relu_dropout_prob", config.relu_dropout_prob);
  ffn.set("residual_dropout_prob", config.residual_dropout_prob);
  ffn.set("residual_droppath_prob", config.residual_droppath_prob);
  ffn.set("norm_policy", config.norm_policy);
  if (config.parallel_residual) ffn.set("add_skip_connection", false);
  ff_layer_ = child("ff_layer", ffn);
}

Transformer::Norms Transformer::norms(std::string_view only, std::string_view pre, std::string_view post) const {
  auto tpl = config_.ln_tpl.clone_unshared();
  tpl.set("dim", config_.input_dims);
  if (config_.norm_policy == NormPolicy::kPrimerHybrid) return {.pre = child(pre, tpl), .post = child(post, tpl)};
  return {.only = child(only, tpl)};
}

Child<Attention> Transformer::attention(std::string_view name, const Tpl<Attention>& tpl) const {
  Tpl<Attention> own = tpl.clone_unshared();
  own.set("input_dim", config_.input_dims);
  own.set("hidden_dim", config_.input_dims);
  if (config_.num_heads) own.set("num_heads", *config_.num_heads);
  own.set("dim_per_head", config_.dim_per_head);
  own.set("atten_dropout_prob", config_.atten_dropout_prob);
  if (config_.ngrammer_tpl && name == "self_attention") own.set("ngrammer_tpl", config_.ngrammer_tpl);
  return child(name, own);
}

Tensor Transformer::before(const Norms& norms, Tensor x) const {
  if (norms.pre) return norms.pre->fprop(x);
  return config_.norm_policy == NormPolicy::kPre ? norms.only->fprop(x) : x;
}

Tensor Transformer::after(const Norms& norms, Tensor residual, Tensor y) const {
  if (norms.post) y = norms.post->fprop(y);
  if (config_.norm_policy == NormPolicy::kPost) y = norms.only->fprop(y);
  y = residual_dropout_->fprop(y);
  y = residual_droppath_ ? residual_droppath_->fprop(residual, y) : residual + y;
  return config_.norm_policy == NormPolicy::kPostSkip ? norms.only->fprop(y) : y;
}

void Transformer::add_input_summaries(const TransformerInputs& inputs) const {
  const Tensor x = convert(inputs.x_btd, DType::kF32);
  const Tensor kept = expand_dims(1.0 - convert(inputs.paddings_bt, DType::kF32), -1);
  const Tensor count = maximum(reduce_sum(kept) * static_cast<double>(x.dim(-1)), 1.0);
  const Tensor mean = reduce_sum(x * kept) / count;
  scope().add_summary("xformer_input_mean", mean);
  scope().add_summary("xformer_input_std", sqrt(reduce_sum(square((x - mean) * kept)) / count));
  scope().add_summary("xformer_input_abs_max", reduce_max(abs(x * kept)));
}

Tensor Transformer::feed_forward(Tensor x, Tensor y, Tensor paddings) const {
  if (!ff_layer_) return y;
  if (config_.parallel_residual) return y + ff_layer_->fprop({.x = x, .paddings = paddings});
  return ff_layer_->fprop({.x = y, .paddings = paddings});
}

TransformerOutput Transformer::fprop(const TransformerInputs& inputs) const {
  add_input_summaries(inputs);
  const Tensor x = before(self_norms_, inputs.x_btd);
  const AttentionOutput self = self_attention_->fprop({.query_btd = x,
                                                       .key_bsd = x,
                                                       .value_bsd = x,
                                                       .mask = inputs.mask,
                                                       .query_segment_pos = inputs.segment_pos_bt,
                                                       .key_segment_pos = inputs.segment_pos_bt,
                                                       .cache = inputs.cache});
  TransformerOutput out{.self_atten_probs = self.probs};
  Tensor y = after(self_norms_, inputs.x_btd, self.encoded_btd);

  if (cross_attention_ && (inputs.cross_bsd || !config_.allow_skip_cross_attention)) {
    if (!inputs.cross_bsd || !inputs.cross_mask) fail("cross attention needs cross inputs and their mask");
    const AttentionOutput cross = cross_attention_->fprop({.query_btd = before(cross_norms_, y),
                                                           .key_bsd = inputs.cross_bsd,
                                                           .value_bsd = inputs.cross_bsd,
                                                           .mask = inputs.cross_mask,
                                                           .cache = inputs.cache});
    out.cross_atten_probs = cross.probs;
    y = after(cross_norms_, y, cross.encoded_btd);
  }
  out.x_btd = feed_forward(inputs.x_btd, y, inputs.paddings_bt);
  return out;
}

Tensor Transformer::extend_step(const TransformerStep& step) const {
  Tensor y = self_attention_->extend_step({.query_bd = before(self_norms_, step.x_bd),
                                           .mask = step.mask,
                                           .time_step = step.time_step,
                                           .segment_pos = step.segment_pos_b,
                                           .cache = step.cache});
  y = after(self_norms_, step.x_bd, y);
  if (cross_attention_ && (step.cross_mask || !config_.allow_skip_cross_attention)) {
    if (!step.cross_mask) fail("cross attention needs the mask of its inputs");
    const Tensor cross = cross_attention_->extend_step({.query_bd = before(cross_norms_, y),
                                                        .mask = step.cross_mask,
                                                        .time_step = step.time_step,
                                                        .segment_pos = step.segment_pos_b,
                                                        .cache = step.cache,
                                                        .kind = AttentionStep::Kind::kCross});
    y = after(cross_norms_, y, cross);
  }
  return feed_forward(step.x_bd, y, {});
}

template const config::ConfigType& config::type_of<Transformer::Config>();

}  // namespace pax
