#include "pax/layers/transformers/transformer_feed_forward_moe.h"

#include <cmath>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/sort.h"

namespace pax {
namespace {

/// For each position of `x` [B, S, M] the mean over its segment, 0 for segment 0: a product with the matrix of who
/// shares a segment with whom.
Tensor sentence_means(Tensor x, Tensor segment_ids_bs) {
  const Tensor together = convert(eq(expand_dims(segment_ids_bs, 2), expand_dims(segment_ids_bs, 1)), x.dtype());
  const Tensor sums = einsum("bst,btm->bsm", together, x);
  const Tensor real = expand_dims(convert(ne(segment_ids_bs, 0.0), x.dtype()), -1);
  return sums / reduce_sum(together, {-1}, Reduced::kKept) * real;
}

}  // namespace

std::span<const std::pair<GatingLevel, std::string_view>> enum_names(GatingLevel) {
  static constexpr std::pair<GatingLevel, std::string_view> kNames[] = {
      {GatingLevel::kToken, "token"},
      {GatingLevel::kSentence, "sentence"},
  };
  return kNames;
}

TransformerFeedForwardMoe::TransformerFeedForwardMoe(const Config& config, const Scope& scope)
    : TransformerFfn(config, scope), config_(config) {
  check();
  auto norm = config.ln_tpl.clone_unshared();
  norm.set("dim", config.input_dims);
  if (config.norm_policy == NormPolicy::kPrimerHybrid) {
    pre_layer_norm_ = child("pre_layer_norm", norm);
    post_layer_norm_ = child("post_layer_norm", norm);
  } else {
    layer_norm_ = child("layer_norm", norm);
  }
  auto dropout = config.residual_dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.residual_dropout_prob);
  residual_dropout_ = child("residual_dropout", dropout);
  dropout = config.relu_dropout_tpl.clone();
  dropout.set("keep_prob", 1.0 - config.relu_dropout_prob);
  relu_dropout_ = child("relu_dropout", dropout);
  if (config.residual_droppath_prob > 0) {
    StochasticResidual::Config droppath;
    droppath.survival_prob = 1.0 - config.residual_droppath_prob;
    residual_droppath_ = child("residual_droppath", droppath);
  }
  activation_ = child("activation", config.activation_tpl);
  add_weights();
  dispatch_einsum_ = child("dispatch_einsum", config.einsum_tpl);
  if (config.use_gated_activation) gated_ffn1_einsum_ = child("gated_ffn1_einsum", config.einsum_gated_tpl);
  ffn2_einsum_ = child("ffn2_einsum", config.einsum_tpl);
  combine_einsum_ = child("combine_einsum", config.einsum_tpl);
}

void TransformerFeedForwardMoe::check() const {
  const std::string& path = scope().path();
  if (config_.num_experts <= 0 || config_.num_groups <= 0) {
    pax::fail<ConfigError>("{}: num_experts is {}, num_groups is {}; set both to 1 or more", path, config_.num_experts,
                           config_.num_groups);
  }
  if (config_.unadjusted_expert_capacity_factor == 0 && config_.expert_capacity_dim == 0) {
    pax::fail<ConfigError>("{}: unadjusted_expert_capacity_factor and expert_capacity_dim are both 0; set one", path);
  }
  if (config_.norm_policy == NormPolicy::kPostSkip) {
    pax::fail<ConfigError>("{}: norm_policy post_skip is not for experts; use pre, post or primer_hybrid", path);
  }
  if (config_.residual_droppath_prob > 0 && !config_.add_skip_connection) {
    pax::fail<ConfigError>("{}: residual_droppath_prob {} needs add_skip_connection", path,
                           config_.residual_droppath_prob);
  }
  if (config_.num_experts_per_token > config_.num_experts) {
    pax::fail<ConfigError>("{}: num_experts_per_token {} is more than num_experts {}", path,
                           config_.num_experts_per_token, config_.num_experts);
  }
  if (config_.gating_func == GatingFunc::kDenseTop2 && config_.use_gated_activation) {
    pax::fail<ConfigError>("{}: gating_func dense_top2 does not go with use_gated_activation", path);
  }
}

void TransformerFeedForwardMoe::add_weights() {
  const int64_t e = config_.num_experts, m = config_.input_dims, h = config_.hidden_dims;
  const auto spec = [&](Shape shape, int64_t fan_in, std::string_view split) {
    ParamSpec spec{.shape = std::move(shape), .split = weight_split(split)};
    if (config_.internal_gshard_variance_scaling_fan_in_init) {
      spec.init = WeightInit::uniform(std::sqrt(3.0 / static_cast<double>(fan_in)));
    }
    if (config_.explicit_fan_in_fan_out_axes && spec.shape.rank() == 3) {
      spec.fan_in_axes = {1};
      spec.fan_out_axes = {2};
    }
    return spec;
  };
  gate_ = param("gate", spec({m, e}, m, "me"));
  if (config_.use_gated_activation) wi_gate_ = param("wi_gate_0", spec({e, m, h}, m, "emh"));
  wi_ = param("wi_0", spec({e, m, h}, m, "emh"));
  wo_ = param("wo_0", spec({e, h, m}, h, "ehm"));
}

Tensor TransformerFeedForwardMoe::gate_logits(const FeedForwardInputs& inputs, const Shape& grouped) const {
  Tensor x = inputs.x;
  if (config_.moe_gating_embedding_level == GatingLevel::kSentence) {
    Tensor segment_ids = inputs.segment_ids_bt;
    if (!segment_ids && inputs.paddings)
      segment_ids = convert(1.0 - convert(inputs.paddings, DType::kF32), DType::kS32);
    x = segment_ids ? sentence_means(x, segment_ids) : broadcast_to(reduce_mean(x, {1}, Reduced::kKept), x.shape());
  }
  return convert(einsum("gsm,me->gse", shard(reshape(x, grouped), "gsm"), gate_), DType::kF32);
}

Tensor TransformerFeedForwardMoe::experts(Tensor x_egcm) const {
  Tensor hidden;
  if (wi_gate_) {
    const auto [linear, gate] = gated_ffn1_einsum_->einsum("egcm,emh->egch", x_egcm, wi_, wi_gate_);
    hidden = activation_->fprop(gate) * linear;
  } else {
    hidden = activation_->fprop(shard(einsum("egcm,emh->egch", x_egcm, wi_), "egch"));
  }
  const Tensor dropped = relu_dropout_->fprop(hidden);
  const Tensor out = ffn2_einsum_->einsum("egch,ehm->egcm", dropped, wo_);
  return shard(out, "egcm");
}

TransformerFeedForwardMoe::Routed TransformerFeedForwardMoe::dispatch(const FeedForwardInputs& inputs) const {
  const int64_t m = inputs.x.dim(-1);
  const int64_t tokens = inputs.x.shape().num_elements() / m;
  int64_t groups = config_.num_groups;
  if (config_.min_group_size && tokens < groups * *config_.min_group_size) {
    groups = (tokens + *config_.min_group_size - 1) / *config_.min_group_size;
  }
  if (tokens % groups != 0) {
    fail("num_groups " + std::to_string(groups) + " does not divide the " + std::to_string(tokens) +
         " tokens of a batch");
  }
  const Shape grouped{groups, tokens / groups, m};
  const Tensor x = shard(reshape(inputs.x, grouped), "gsm");
  Tensor paddings;
  if (inputs.paddings) {
    paddings = convert(shard(reshape(inputs.paddings, {groups, tokens / groups}), "gs"), fprop_dtype());
  }
  GatingOptions options{.expert_capacity_dim = config_.expert_capacity_dim,
                        .capacity_factor = config_.unadjusted_expert_capacity_factor,
                        .second_expert_policy = config_.second_expert_policy,
                        .fprop_dtype = fprop_dtype()};
  if (options.second_expert_policy != SecondExpertPolicy::kAll) options.random_key = scope().random_key();
  const Tensor logits = gate_logits(inputs, grouped);
  Tensor y;
  Gating gating;
  if (config_.gating_func == GatingFunc::kExpertChoice) {
    gating = expert_choice_gating(logits, options);
    const Tensor chosen = shard(gating.dispatch, "gecs");
    const Tensor out = experts(shard(einsum("gecs,gsm->egcm", chosen, x), "egcm"));
    y = einsum("gecm,gecs,gec->gsm", {shard(move_dim(out, 0, 1), "gecm"), chosen, shard(gating.combine, "gec")});
  } else {
    if (config_.gating_func == GatingFunc::kTop2) {
      options.logit_cap = config_.gating_logit_cap;
      gating = top2_gating(logits, paddings, options);
    } else {
      gating = expert_choice_v2_gating(logits, paddings, options);
    }
    const Tensor combine = shard(gating.combine, "gsec");
    const Tensor out =
        experts(shard(dispatch_einsum_->einsum("gsec,gsm->egcm", shard(gating.dispatch, "gsec"), x), "egcm"));
    y = combine_einsum_->einsum("gecm,gsec->gsm", shard(move_dim(out, 0, 1), "gecm"), combine);
  }
  for (const Gating::Summary& summary : gating.summaries) scope().add_summary(summary.name, summary.value);
  return {.y = reshape(shard(y, "gsm"), inputs.x.shape()), .aux_loss = gating.aux_loss};
}

TransformerFeedForwardMoe::Routed TransformerFeedForwardMoe::dense_top2(const FeedForwardInputs& inputs) const {
  const Tensor gates = convert(softmax(gate_logits(inputs, inputs.x.shape())), fprop_dtype());
  const Tensor best = reduce_max(gates, {-1}, Reduced::kKept);
  const Tensor second = reduce_max(gates * convert(lt(gates, best), gates.dtype()), {-1}, Reduced::kKept);
  Tensor kept = gates * convert(ge(gates, second), gates.dtype());
  kept = kept / (reduce_sum(kept, {-1}, Reduced::kKept) + 1e-12);
  const Tensor y = einsum("egsm,gse->gsm", all_experts(inputs.x), kept);
  return {.y = shard(y, "gsm"), .aux_loss = full(graph(), {fprop_dtype(), {}}, 0.0)};
}

Tensor TransformerFeedForwardMoe::all_experts(Tensor x_gsm) const {
  const Tensor linear = einsum("gsm,emh->egsh", x_gsm, wi_);
  const Tensor hidden =
      wi_gate_ ? activation_->fprop(einsum("gsm,emh->egsh", x_gsm, wi_gate_)) * linear : activation_->fprop(linear);
  return einsum("egsh,ehm->egsm", relu_dropout_->fprop(hidden), wo_);
}

TransformerFeedForwardMoe::Routed TransformerFeedForwardMoe::dense_topk(const FeedForwardInputs& inputs) const {
  if (inputs.x.rank() == 2) {  // a step of decoding: [B, M]
    const Routed one = dense_topk({.x = expand_dims(inputs.x, 1), .paddings = {}, .segment_ids_bt = {}});
    return {.y = squeeze(one.y, {1}), .aux_loss = one.aux_loss};
  }
  const Tensor logits = checkpoint_name(gate_logits(inputs, inputs.x.shape()), "router_logits");
  const Tensor gates = softmax(logits);
  const Tensor best = top_k(stop_gradient(gates), config_.num_experts_per_token).second;
  const Tensor chosen = reduce_sum(one_hot(best, config_.num_experts, DType::kF32), {-2});
  Tensor kept = gates * chosen;
  if (config_.normalize_gates) kept = kept / reduce_sum(kept, {-1}, Reduced::kKept);
  add_router_statistics(gates, chosen, inputs.paddings);
  const Tensor y = einsum("egsm,gse->gsm", all_experts(inputs.x), convert(kept, fprop_dtype()));
  return {.y = shard(y, "gsm"), .aux_loss = full(graph(), {fprop_dtype(), {}}, 0.0)};
}

void TransformerFeedForwardMoe::add_router_statistics(Tensor probs_gse, Tensor chosen_gse, Tensor paddings_gs) const {
  const Tensor real = paddings_gs ? expand_dims(1.0 - convert(paddings_gs, DType::kF32), -1)
                                  : full(graph(), {DType::kF32, {probs_gse.dim(0), probs_gse.dim(1), 1}}, 1.0);
  scope().add_side_result("router_tokens", "router", reduce_sum(real));
  scope().add_side_result("router_choices", "router", reduce_sum(chosen_gse * real, {0, 1}));
  scope().add_side_result("router_probs", "router", reduce_sum(probs_gse * real, {0, 1}));
}

Tensor TransformerFeedForwardMoe::fprop(const FeedForwardInputs& inputs) const {
  const bool primer = config_.norm_policy == NormPolicy::kPrimerHybrid;
  Tensor x = inputs.x;
  if (x.rank() < 2) fail("input must be [B, T, D], or [B, D] in a step of decoding");
  Tensor kept;  // 0 at padding
  if (inputs.paddings) kept = expand_dims(1.0 - convert(inputs.paddings, x.dtype()), -1);
  if (config_.apply_padding_first && kept) x = x * kept;
  const Tensor residual = x;
  if (primer) x = pre_layer_norm_->fprop(x);
  if (config_.norm_policy == NormPolicy::kPre) x = layer_norm_->fprop(x);

  FeedForwardInputs routed_inputs = inputs;
  routed_inputs.x = x;
  const Routed routed = config_.gating_func == GatingFunc::kDenseTop2   ? dense_top2(routed_inputs)
                        : config_.gating_func == GatingFunc::kDenseTopk ? dense_topk(routed_inputs)
                                                                        : dispatch(routed_inputs);
  Tensor y = kept ? routed.y * kept : routed.y;
  if (primer) y = post_layer_norm_->fprop(y);
  if (config_.norm_policy == NormPolicy::kPost) y = layer_norm_->fprop(y);
  y = residual_dropout_->fprop(y);
  if (residual_droppath_) {
    y = residual_droppath_->fprop(residual, y);
  } else if (config_.add_skip_connection) {
    y = residual + (config_.residual_weight == 1.0 ? y : y * config_.residual_weight);
  }
  const Tensor aux = convert(routed.aux_loss, fprop_dtype()) * config_.moe_load_balance_loss_weight;
  scope().add_summary("aux_moe_load_balance_loss", aux);
  scope().add_aux_loss("aux_moe_load_balance_loss", aux);
  return y;
}

template const config::ConfigType& config::type_of<TransformerFeedForwardMoe::Config>();

}  // namespace pax
