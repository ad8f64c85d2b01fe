#pragma once

#include <array>

#include "pax/layers/convolutions/poolings.h"
#include "pax/layers/linears.h"
#include "pax/layers/positions.h"
#include "pax/layers/stochastics.h"
#include "pax/layers/transformers/stacked_transformer.h"

namespace pax {

// B: batch, H, W: image, C: channels, P: patch size, N: tokens, D: model dimension.

/// [B, H, W, C] -> [B, H W / P^2, P^2 C]. Throws ShapeError when P does not divide the image.
Tensor image_to_patch(Tensor image, int64_t patch_size);
/// The reverse, to an image of `shape` [B, H, W, C].
Tensor patch_to_image(Tensor patches, const Shape& shape, int64_t patch_size);
/// Positions of a grid, [1, H1 W1, D], to those of another by bilinear interpolation (jax.image.resize).
Tensor interpolate_embedding_2d(Tensor emb, std::array<int64_t, 2> from, std::array<int64_t, 2> to);

/// Patches, projection, positions, class tokens (praxis vits.VitEntryLayers): [B, H, W, C] or patches [B, N, P^2 C] ->
/// [B, N', D].
class VitEntryLayers final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = VitEntryLayers;
    static constexpr std::string_view kName = "praxis.layers.VitEntryLayers";
    static constexpr std::string_view kAliases[] = {"praxis.layers.vits.VitEntryLayers"};
    static constexpr std::string_view kDoc = "From an image to tokens.";
    std::array<int64_t, 2> pos_emb_shapes{0, 0};
    int64_t patch_size = 0;
    int64_t input_dims = 0;
    int64_t output_dims = 0;
    double pos_emb_dropout_prob = 0.0;
    int64_t prepend_cls_tokens = 0;
    int64_t append_cls_tokens = 0;
    WeightInit cls_emb_init = WeightInit::constant(0.0);
    Tpl<BasePositionalEmbedding> pos_emb_tpl = TrainablePositionalEmbedding::Config{};
    bool input_fc_has_bias = true;
    bool pos_emb_on_cls_tokens = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("pos_emb_shapes", self.pos_emb_shapes, "Rows and columns that have a position.");
      visit("patch_size", self.patch_size, "P.");
      visit("input_dims", self.input_dims, "P^2 C.");
      visit("output_dims", self.output_dims, "D.");
      visit("pos_emb_dropout_prob", self.pos_emb_dropout_prob,
            {.doc = "Share of tokens' values set to zero.", .min = 0.0, .max = 1.0});
      visit("prepend_cls_tokens", self.prepend_cls_tokens, "Trained tokens before.");
      visit("append_cls_tokens", self.append_cls_tokens, "Trained tokens after.");
      visit("cls_emb_init", self.cls_emb_init, "How they begin.");
      visit("pos_emb_tpl", self.pos_emb_tpl, "Positions; null: none.");
      visit("input_fc_has_bias", self.input_fc_has_bias, "Whether the projection has a bias.");
      visit("pos_emb_on_cls_tokens", self.pos_emb_on_cls_tokens, "Class tokens have positions, too, before the patches'.");
    }
  };
  VitEntryLayers(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  Tensor positions(const Shape& input) const;

  const Config config_;
  Child<Layer> patch_projection_, dropout_;
  Child<BasePositionalEmbedding> pos_emb_;
  Tensor prepend_cls_embs_, append_cls_embs_;  ///< [1, tokens, D]; null without
};
extern template const config::ConfigType& config::type_of<VitEntryLayers::Config>();

/// The first token alone, [B, N, D] -> [B, D]: where a class token is in front.
class FirstToken final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = FirstToken;
    static constexpr std::string_view kName = "pax.layers.FirstToken";
    static constexpr std::string_view kAliases[] = {"pax.layers.vits.FirstToken"};
    static constexpr std::string_view kDoc = "The first token.";
  };
  using Layer::Layer;
  Tensor fprop(Tensor x) const override;
};
extern template const config::ConfigType& config::type_of<FirstToken::Config>();

/// Normalisation, pooling over tokens, projection (praxis vits.VitExitLayers): [B, N, D] -> [B, output_dim].
class VitExitLayers final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = VitExitLayers;
    static constexpr std::string_view kName = "praxis.layers.VitExitLayers";
    static constexpr std::string_view kAliases[] = {"praxis.layers.vits.VitExitLayers"};
    static constexpr std::string_view kDoc = "From tokens to one vector an image.";
    int64_t hidden_dim = 0;
    int64_t output_dim = 0;
    double output_dropout_prob = 0.0;
    bool pooled = true;
    bool pre_ln = true;
    bool output_fc_tanh = true;
    bool output_fc_has_bias = true;
    Tpl<Layer> pooling_tpl = GlobalPooling::Config{};
    Tpl<BaseNormalization> ln_tpl = LayerNorm::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("hidden_dim", self.hidden_dim, "D.");
      visit("output_dim", self.output_dim, "Size of the result.");
      visit("output_dropout_prob", self.output_dropout_prob,
            {.doc = "Share of results set to zero.", .min = 0.0, .max = 1.0});
      visit("pooled", self.pooled, "Pools over tokens.");
      visit("pre_ln", self.pre_ln, "Normalises first.");
      visit("output_fc_tanh", self.output_fc_tanh, "Projects through tanh; else plainly where sizes differ.");
      visit("output_fc_has_bias", self.output_fc_has_bias, "Whether the projection has a bias.");
      visit("pooling_tpl", self.pooling_tpl, "The pooling.");
      visit("ln_tpl", self.ln_tpl, "The normalisation.");
    }
  };
  VitExitLayers(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  Child<BaseNormalization> ln_;
  Child<Layer> pooling_, projection_, dropout_;
};
extern template const config::ConfigType& config::type_of<VitExitLayers::Config>();

/// Entry, Transformer, exit (praxis vits.VisionTransformer; Dosovitskiy et al. 2021).
class VisionTransformer final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = VisionTransformer;
    static constexpr std::string_view kName = "praxis.layers.VisionTransformer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.vits.VisionTransformer"};
    static constexpr std::string_view kDoc = "Transformer over the patches of an image.";
    Tpl<Layer> entry_layers_tpl = VitEntryLayers::Config{};
    Tpl<TransformerStack> transformer_layers_tpl = StackedTransformer::Config{};
    Tpl<Layer> exit_layers_tpl = VitExitLayers::Config{};
    bool full_data_parallel_on_entry_exit = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("entry_layers_tpl", self.entry_layers_tpl, "From images to tokens; null: the input is tokens.");
      visit("transformer_layers_tpl", self.transformer_layers_tpl, "The Transformer.");
      visit("exit_layers_tpl", self.exit_layers_tpl, "From tokens to the result; null: tokens are the result.");
      visit("full_data_parallel_on_entry_exit", self.full_data_parallel_on_entry_exit,
            "Entry and exit split the batch over all mesh axes.");
    }
  };
  struct Inputs {
    Tensor x;               ///< [B, H, W, C] or [B, N, D]
    Tensor paddings_bn;     ///< may be null
    Tensor segment_pos_bn;  ///< may be null
  };
  VisionTransformer(const Config& config, const Scope& scope);
  Tensor fprop(const Inputs& inputs) const;
  Tensor fprop(Tensor x) const override { return fprop(Inputs{.x = x, .paddings_bn = {}, .segment_pos_bn = {}}); }

 private:
  Tensor shard_entry_exit(Tensor x) const;

  const bool full_data_parallel_on_entry_exit_;
  Child<Layer> entry_stack_, exit_stack_;
  Child<TransformerStack> transformers_stack_;
};
extern template const config::ConfigType& config::type_of<VisionTransformer::Config>();

}  // namespace pax
