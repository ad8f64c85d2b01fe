#include "pax/layers/transformers/stacked_transformer.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/base/error.h"
#include "pax/ops/identity.h"

namespace pax {

StackedTransformer::StackedTransformer(const Config& config, const Scope& scope)
    : TransformerStack(config, scope), config_(config) {
  check();
  for (int64_t i = 0; i < config.num_layers; ++i) {
    layers_.push_back(child(fmt::format("x_layers_{}", i), layer_template(i)));
  }
  if (config.input_dropout_prob > 0) {
    Dropout::Config dropout;
    dropout.keep_prob = 1.0 - config.input_dropout_prob;
    input_dropout_ = child("input_dropout", Tpl<Layer>(dropout));
  }
}

void StackedTransformer::check() const {
  const std::pair<const char*, int64_t> sizes[] = {{"num_layers", config_.num_layers},
                                                   {"model_dims", config_.model_dims},
                                                   {"hidden_dims", config_.hidden_dims},
                                                   {"num_heads", config_.num_heads}};
  for (const auto& [name, size] : sizes) {
    if (size <= 0) pax::fail<ConfigError>("{}: {} is {}; set it to 1 or more", scope().path(), name, size);
  }
  if (const auto* several = std::get_if<1>(&config_.transformer_layer_params_tpl)) {
    if (several->empty() || config_.num_layers % static_cast<int64_t>(several->size()) != 0) {
      pax::fail<ConfigError>("{}: num_layers {} is no multiple of the {} entries of transformer_layer_params_tpl",
                             scope().path(), config_.num_layers, several->size());
    }
  }
  if (!config_.local_window_size || config_.local_window_size->index() == 0) return;
  const size_t windows = std::get<1>(*config_.local_window_size).size();
  if (windows != static_cast<size_t>(config_.num_layers)) {
    pax::fail<ConfigError>("{}: local_window_size has {} entries for {} layers", scope().path(), windows,
                           config_.num_layers);
  }
}

Tpl<TransformerLayer> StackedTransformer::layer_template(int64_t i) const {
  const Config& c = config_;
  Tpl<TransformerLayer> tpl;
  if (const auto* several = std::get_if<1>(&c.transformer_layer_params_tpl)) {
    const int64_t run = c.num_layers / static_cast<int64_t>(several->size());
    tpl = (*several)[static_cast<size_t>(i / run)].clone_unshared();
  } else {
    tpl = std::get<0>(c.transformer_layer_params_tpl).clone_unshared();
  }
  // As Praxis does, a probability of 0 counts as unset.
  const auto dropout = [&](const std::optional<double>& own) { return own && *own != 0 ? *own : c.dropout_prob; };
  tpl.set("use_cross_attention", c.use_cross_attention);
  tpl.set("num_heads", c.num_heads);
  tpl.set("dim_per_head", c.dim_per_head);
  tpl.set("input_dims", c.model_dims);
  tpl.set("packed_input", c.packed_input);
  tpl.set("atten_dropout_prob", dropout(c.atten_dropout_prob));
  tpl.set("residual_dropout_prob", dropout(c.residual_dropout_prob));
  tpl.set("relu_dropout_prob", dropout(c.relu_dropout_prob));
  tpl.set("hidden_dims", c.hidden_dims);
  if (c.local_window_size) {
    const auto* each = std::get_if<1>(&*c.local_window_size);
    const std::optional<AttentionWindow> window =
        each ? (*each)[static_cast<size_t>(i)] : std::optional(std::get<0>(*c.local_window_size));
    tpl.set("tr_atten_tpl.local_window_size", window);
  }
  if (c.residual_droppath_prob > 0) {
    tpl.set("residual_droppath_prob",
            c.residual_droppath_prob * static_cast<double>(i) / static_cast<double>(c.num_layers));
  }
  if (c.moe_layers && std::ranges::find(*c.moe_layers, i) != c.moe_layers->end()) set_experts(tpl);
  if (c.ngrammer_tpls && static_cast<size_t>(i) < c.ngrammer_tpls->size()) {
    const Tpl<Layer>& ngrammer = (*c.ngrammer_tpls)[static_cast<size_t>(i)];
    if (ngrammer) tpl.set("ngrammer_tpl", ngrammer);
  }
  return tpl;
}

void StackedTransformer::set_experts(Tpl<TransformerLayer>& layer) const {
  if (config_.num_experts <= 0 || !config_.moe_layer_tpl) {
    pax::fail<ConfigError>("{}: moe_layers needs num_experts (is {}) and moe_layer_tpl", scope().path(),
                           config_.num_experts);
  }
  auto moe = config_.moe_layer_tpl.clone_unshared();
  moe.set("num_experts", config_.num_experts);
  moe.set("num_groups", config_.num_groups);
  moe.set("min_group_size", config_.min_group_size);
  moe.set("gating_func", config_.gating_func);
  if (const auto own = moe.get<int64_t>("hidden_dims"); own != 0) layer.set("hidden_dims", own);
  layer.set("tr_fflayer_tpl", moe);
}

Tensor StackedTransformer::fprop(const StackInputs& inputs) const {
  if (config_.packed_input && !inputs.segment_mask) fail("packed_input needs a segment mask");
  if (config_.use_cross_attention && (!inputs.cross_bsd || !inputs.cross_paddings_bs)) {
    fail("use_cross_attention needs cross inputs and their paddings");
  }
  const StackMasks masks =
      masks_for_fprop(inputs, {.causal = config_.mask_self_attention,
                               .fold_padding_with_segment_mask = config_.fold_padding_with_segment_mask});
  Tensor x = inputs.x_btd;
  if (input_dropout_) x = input_dropout_->fprop(x);
  const auto policy = config_.remat ? remat_policy(config_.checkpoint_policy) : nullptr;
  for (const Child<TransformerLayer>& layer : layers_) {
    const auto run = [&](Tensor in) {
      return layer
          ->fprop({.x_btd = in,
                   .paddings_bt = inputs.paddings_bt,
                   .mask = masks.self,
                   .cross_bsd = inputs.cross_bsd,
                   .cross_mask = masks.cross,
                   .segment_pos_bt = inputs.segment_pos_bt,
                   .cache = inputs.cache})
          .x_btd;
    };
    if (policy && inputs.cache == nullptr) {
      x = pax::remat(graph(), policy, std::span(&x, 1),
                     [&](std::span<const Tensor> in) { return std::vector<Tensor>{run(in[0])}; })[0];
    } else {
      x = run(x);
    }
    x = checkpoint_name(x, "transformer_layer_out");
  }
  return x;
}

Tensor StackedTransformer::extend_step(const StackStep& step) const {
  const StackMasks masks = masks_for_step(step);
  Tensor x = step.x_bd;
  for (const Child<TransformerLayer>& layer : layers_) {
    x = layer->extend_step({.x_bd = x,
                            .mask = masks.self,
                            .cross_mask = masks.cross,
                            .time_step = step.time_step,
                            .segment_pos_b = step.segment_pos_b,
                            .cache = step.cache});
  }
  return x;
}

template const config::ConfigType& config::type_of<StackedTransformer::Config>();

}  // namespace pax
