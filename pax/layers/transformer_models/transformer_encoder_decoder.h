#pragma once

#include "pax/layers/normalizations.h"
#include "pax/layers/positions.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/transformer_models/lm_loss.h"
#include "pax/layers/transformers/stack.h"

namespace pax {

// B: batch, S: source positions, T: target positions, D: model dimension.

struct SequenceInputs {
  Tensor ids_bs, paddings_bs;             ///< source; 1 at padding
  Tensor segment_ids_bs, segment_pos_bs;  ///< of packed input; null: what is no padding is one segment
  Tensor targets_bt, target_paddings_bt;
  Tensor target_segment_ids_bt, target_segment_pos_bt;
  DecodeCache* cache = nullptr;
};

struct SequenceStep {
  Tensor ids_b;
  Tensor time_step;        ///< i32 scalar: where in the cache this step goes
  Tensor segment_pos_b;    ///< null: the time step
  Tensor paddings_bs;      ///< of the source
  int64_t max_length = 0;  ///< target positions of the cache
  DecodeCache* cache = nullptr;
};

/// A model from one sequence to another.
class SequenceModelLayer : public Layer {
 public:
  using Interface = SequenceModelLayer;
  using Layer::fprop;
  using Layer::Layer;
  virtual LmOutput fprop(const SequenceInputs& inputs, const LmLabels& labels) const = 0;
  /// Logits of every target position and what follows from them.
  virtual LmOutput predict(const SequenceInputs& inputs) const = 0;
  /// [B, V]: logits of one step.
  virtual Tensor extend_step(const SequenceStep& step) const = 0;
};

/// Encoder and decoder stacks (praxis transformer_models.TransformerEncoderDecoder; Vaswani et al. 2017). The embedding
/// is the softmax's table unless there are separate ones.
class TransformerEncoderDecoder final : public SequenceModelLayer {
 public:
  struct Config : LayerConfig {
    using Product = TransformerEncoderDecoder;
    static constexpr std::string_view kName = "praxis.layers.TransformerEncoderDecoder";
    static constexpr std::string_view kAliases[] = {"praxis.layers.transformer_models.TransformerEncoderDecoder"};
    static constexpr std::string_view kDoc = "Transformer from one sequence to another.";
    Tpl<BasePositionalEmbedding> position_emb_tpl = PositionalEmbedding::Config{};
    Tpl<BasePositionalEmbedding> encoder_position_emb_tpl;
    Tpl<TransformerStack> encoder_stacked_transformer_tpl;
    Tpl<Layer> encoder_ngrammer_tpl;
    std::optional<std::vector<Tpl<Layer>>> encoder_post_attention_ngrammer_tpls;
    Tpl<Layer> encoder_embedding_tpl;
    Tpl<BasePositionalEmbedding> decoder_position_emb_tpl;
    Tpl<TransformerStack> decoder_stacked_transformer_tpl;
    Tpl<Layer> decoder_ngrammer_tpl;
    std::optional<std::vector<Tpl<Layer>>> decoder_post_attention_ngrammer_tpls;
    Tpl<Layer> decoder_embedding_tpl;
    int64_t model_dims = 0;
    Tpl<Softmax> softmax_tpl = SharedEmbeddingSoftmax::Config{};
    bool packed_input = false;
    Tpl<Layer> encoder_ln_tpl = LayerNorm::Config{};
    Tpl<Layer> decoder_ln_tpl = LayerNorm::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("position_emb_tpl", self.position_emb_tpl, "Of both sides; null when each has its own, or none.");
      visit("encoder_position_emb_tpl", self.encoder_position_emb_tpl);
      visit("encoder_stacked_transformer_tpl", self.encoder_stacked_transformer_tpl);
      visit("encoder_ngrammer_tpl", self.encoder_ngrammer_tpl);
      visit("encoder_post_attention_ngrammer_tpls", self.encoder_post_attention_ngrammer_tpls);
      visit("encoder_embedding_tpl", self.encoder_embedding_tpl);
      visit("decoder_position_emb_tpl", self.decoder_position_emb_tpl);
      visit("decoder_stacked_transformer_tpl", self.decoder_stacked_transformer_tpl);
      visit("decoder_ngrammer_tpl", self.decoder_ngrammer_tpl);
      visit("decoder_post_attention_ngrammer_tpls", self.decoder_post_attention_ngrammer_tpls);
      visit("decoder_embedding_tpl", self.decoder_embedding_tpl, "Also of the source when that has none.");
      visit("model_dims", self.model_dims);
      visit("softmax_tpl", self.softmax_tpl);
      visit("packed_input", self.packed_input, "A row may hold several sequences.");
      visit("encoder_ln_tpl", self.encoder_ln_tpl);
      visit("decoder_ln_tpl", self.decoder_ln_tpl);
    }
  };
  TransformerEncoderDecoder(const Config& config, const Scope& scope);
  using SequenceModelLayer::fprop;
  LmOutput fprop(const SequenceInputs& inputs, const LmLabels& labels) const override;
  LmOutput predict(const SequenceInputs& inputs) const override;
  Tensor extend_step(const SequenceStep& step) const override;

  /// [B, S, D].
  Tensor encode(const SequenceInputs& inputs) const;

 private:
  enum class Side : uint8_t { kEncoder, kDecoder };
  Tpl<TransformerStack> stack_template(const Tpl<TransformerStack>& tpl, Side side) const;
  Child<BasePositionalEmbedding> positions(std::string_view name, const Tpl<BasePositionalEmbedding>& tpl) const;
  Child<Layer> embedding(std::string_view name, const Tpl<Layer>& tpl) const;
  Tensor embed(Tensor ids, Side side) const;
  Tensor add_positions(Tensor x_btd, Tensor position_bt, Side side) const;
  /// [B, T, D]: what goes into the softmax.
  Tensor decode(const SequenceInputs& inputs, Tensor encoded_bsd) const;

  const Config config_;
  Child<BasePositionalEmbedding> position_emb_, encoder_position_emb_, decoder_position_emb_;
  Child<Layer> encoder_embedding_lookup_, decoder_embedding_lookup_, encoder_ln_, decoder_ln_;
  Child<TransformerStack> encoder_, decoder_;
  Child<Softmax> softmax_;
};
extern template const config::ConfigType& config::type_of<TransformerEncoderDecoder::Config>();

}  // namespace pax
