#include "pax/layers/vision/vit.h"

#include <fmt/format.h>

#include <cmath>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

void require_patches(const Graph& graph, const Shape& image, int64_t patch_size) {
  if (image.rank() == 4 && patch_size > 0 && image[1] % patch_size == 0 && image[2] % patch_size == 0) return;
  fail_op(graph, "image_to_patch",
          fmt::format("image {} must be [B, H, W, C] with H and W multiples of the patch size {}", to_string(image),
                      patch_size));
}

/// [from, to]: what each old position gives to each new one, by a triangular kernel that widens where positions are
/// thinned out.
Tensor resize_weights(Graph& graph, int64_t from, int64_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double width = std::max(step, 1.0);
  std::vector<float> weights(static_cast<size_t>(from * to));
  for (int64_t j = 0; j < to; ++j) {
    const double center = (static_cast<double>(j) + 0.5) * step - 0.5;
    double total = 0;
    const auto weight = [&](int64_t i) { return std::max(0.0, 1 - std::abs(center - static_cast<double>(i)) / width); };
    for (int64_t i = 0; i < from; ++i) total += weight(i);
    for (int64_t i = 0; i < from; ++i) weights[static_cast<size_t>(i * to + j)] = static_cast<float>(weight(i) / total);
  }
  return constant(graph, HostArray::of<float>(std::span<const float>(weights), {from, to}));
}

FeedForward::Config projection(int64_t input_dims, int64_t output_dims, bool has_bias) {
  FeedForward::Config config;
  config.input_dims = input_dims;
  config.output_dims = output_dims;
  config.has_bias = has_bias;
  config.activation_tpl = Identity::Config{};
  return config;
}

Dropout::Config dropping(double prob) {
  Dropout::Config config;
  config.keep_prob = 1.0 - prob;
  return config;
}

}  // namespace

Tensor image_to_patch(Tensor image, int64_t patch_size) {
  require_patches(image.graph(), image.shape(), patch_size);
  const int64_t p = patch_size, rows = image.dim(1) / p, columns = image.dim(2) / p, c = image.dim(3);
  const Tensor split = reshape(image, {image.dim(0), rows, p, columns, p, c});
  return reshape(transpose(split, {0, 1, 3, 2, 4, 5}), {image.dim(0), rows * columns, p * p * c});
}

Tensor patch_to_image(Tensor patches, const Shape& shape, int64_t patch_size) {
  require_patches(patches.graph(), shape, patch_size);
  const int64_t p = patch_size, rows = shape[1] / p, columns = shape[2] / p;
  const Tensor split = reshape(patches, {patches.dim(0), rows, columns, p, p, shape[3]});
  return reshape(transpose(split, {0, 1, 3, 2, 4, 5}), {patches.dim(0), shape[1], shape[2], shape[3]});
}

Tensor interpolate_embedding_2d(Tensor emb, std::array<int64_t, 2> from, std::array<int64_t, 2> to) {
  if (emb.rank() != 3 || emb.dim(0) != 1 || emb.dim(1) != from[0] * from[1]) {
    fail_op(emb.graph(), "interpolate_embedding_2d",
            fmt::format("embedding {} is not [1, {} x {}, D]", to_string(emb.type()), from[0], from[1]));
  }
  Tensor grid = reshape(emb, {from[0], from[1], emb.dim(2)});
  if (from[0] != to[0]) grid = einsum("hwd,hk->kwd", grid, resize_weights(emb.graph(), from[0], to[0]));
  if (from[1] != to[1]) grid = einsum("hwd,wk->hkd", grid, resize_weights(emb.graph(), from[1], to[1]));
  return reshape(grid, {1, to[0] * to[1], emb.dim(2)});
}

VitEntryLayers::VitEntryLayers(const Config& config, const Scope& scope)
    : Layer(config, scope),
      config_(config),
      patch_projection_(child("patch_projection", Tpl<Layer>(projection(config.input_dims, config.output_dims,
                                                                        config.input_fc_has_bias)))) {
  if (config.pos_emb_tpl) pos_emb_ = child("pos_emb", config.pos_emb_tpl);
  if (config.pos_emb_dropout_prob > 0) dropout_ = child("dropout", Tpl<Layer>(dropping(config.pos_emb_dropout_prob)));
  const auto tokens = [&](std::string_view name, int64_t count) {
    return count > 0 ? param(name, {.shape = {1, count, config.output_dims}, .init = config.cls_emb_init}) : Tensor();
  };
  prepend_cls_embs_ = tokens("prepend_cls_embs", config.prepend_cls_tokens);
  append_cls_embs_ = tokens("append_cls_embs", config.append_cls_tokens);
}

Tensor VitEntryLayers::positions(const Shape& input) const {
  const int64_t patches = config_.pos_emb_shapes[0] * config_.pos_emb_shapes[1];
  const int64_t tokens = config_.pos_emb_on_cls_tokens ? config_.prepend_cls_tokens : 0;
  const Tensor emb = pos_emb_->embed(tokens + patches, {});
  if (input.rank() != 4) return emb;
  const std::array<int64_t, 2> grid{input[1] / config_.patch_size, input[2] / config_.patch_size};
  if (grid == config_.pos_emb_shapes) return emb;
  const Tensor resized =
      interpolate_embedding_2d(slice_dim(emb, 1, tokens, tokens + patches), config_.pos_emb_shapes, grid);
  return tokens == 0 ? resized : concatenate({slice_dim(emb, 1, 0, tokens), resized}, 1);
}

Tensor VitEntryLayers::fprop(Tensor x) const {
  if (x.rank() != 3 && x.rank() != 4) {
    fail(fmt::format("input is {}; it must be [B, H, W, C] or [B, N, D]", to_string(x.type())));
  }
  const auto for_each_image = [&](Tensor tokens) {
    return broadcast_to(tokens, {x.dim(0), tokens.dim(1), tokens.dim(2)});
  };
  Tensor y = x.rank() == 4 ? image_to_patch(x, config_.patch_size) : x;
  y = patch_projection_->fprop(y);
  const bool on_tokens = config_.pos_emb_on_cls_tokens && prepend_cls_embs_;
  if (on_tokens) y = concatenate({for_each_image(prepend_cls_embs_), y}, 1);
  if (pos_emb_) y = y + positions(x.shape());
  if (dropout_) y = dropout_->fprop(y);
  if (prepend_cls_embs_ && !on_tokens) y = concatenate({for_each_image(prepend_cls_embs_), y}, 1);
  if (append_cls_embs_) y = concatenate({y, for_each_image(append_cls_embs_)}, 1);
  return y;
}

Tensor FirstToken::fprop(Tensor x) const {
  if (x.rank() != 3) fail(fmt::format("input is {}; it must be [B, N, D]", to_string(x.type())));
  return index_dim(x, 1, 0);
}

VitExitLayers::VitExitLayers(const Config& config, const Scope& scope) : Layer(config, scope) {
  if (config.pre_ln) {
    Tpl<BaseNormalization> ln = config.ln_tpl.clone();
    ln.set("dim", config.hidden_dim);
    ln_ = child("ln", ln);
  }
  if (config.pooled) pooling_ = child("pooling", config.pooling_tpl);
  FeedForward::Config fc = projection(config.hidden_dim, config.output_dim, config.output_fc_has_bias);
  if (config.output_fc_tanh) {
    fc.activation_tpl = Tanh::Config{};
    projection_ = child("fc_tanh", Tpl<Layer>(fc));
  } else if (config.output_dim != 0 && config.hidden_dim != config.output_dim) {
    projection_ = child("output_projection", Tpl<Layer>(fc));
  }
  if (config.output_dropout_prob > 0) dropout_ = child("dropout", Tpl<Layer>(dropping(config.output_dropout_prob)));
}

Tensor VitExitLayers::fprop(Tensor x) const {
  if (ln_) x = ln_->fprop(x);
  for (const Child<Layer>* layer : {&pooling_, &projection_, &dropout_}) {
    if (*layer) x = (*layer)->fprop(x);
  }
  return x;
}

VisionTransformer::VisionTransformer(const Config& config, const Scope& scope)
    : Layer(config, scope), full_data_parallel_on_entry_exit_(config.full_data_parallel_on_entry_exit) {
  if (!config.transformer_layers_tpl) pax::fail<ConfigError>("{}: transformer_layers_tpl is not set", scope.path());
  if (config.entry_layers_tpl) entry_stack_ = child("entry_stack", config.entry_layers_tpl);
  transformers_stack_ = child("transformers_stack", config.transformer_layers_tpl);
  if (config.exit_layers_tpl) exit_stack_ = child("exit_stack", config.exit_layers_tpl);
}

Tensor VisionTransformer::shard_entry_exit(Tensor x) const {
  const std::vector<std::string>& axes = scope().inherited().mesh_axis_names;
  if (!full_data_parallel_on_entry_exit_ || axes.empty()) return x;
  Sharding sharding;
  sharding.dims.resize(static_cast<size_t>(x.rank()));
  sharding.dims[0] = axes;
  return sharding_constraint(x, std::move(sharding));
}

Tensor VisionTransformer::fprop(const Inputs& inputs) const {
  Tensor x = inputs.x;
  if (entry_stack_) {
    x = entry_stack_->fprop(shard_entry_exit(x));
    x = shard(shard_entry_exit(x), "network_inputs");
  }
  Tensor paddings = inputs.paddings_bn;
  if (!paddings) paddings = full(graph(), {x.dtype(), x.shape().without(-1)}, 0.0);
  StackInputs stack{.x_btd = x, .paddings_bt = paddings};
  stack.segment_pos_bt = inputs.segment_pos_bn;
  x = transformers_stack_->fprop(stack);
  if (!exit_stack_) return x;
  x = exit_stack_->fprop(shard_entry_exit(shard(x, "network_inputs")));
  return shard_entry_exit(x);
}

template const config::ConfigType& config::type_of<VitEntryLayers::Config>();
template const config::ConfigType& config::type_of<FirstToken::Config>();
template const config::ConfigType& config::type_of<VitExitLayers::Config>();
template const config::ConfigType& config::type_of<VisionTransformer::Config>();

}  // namespace pax
