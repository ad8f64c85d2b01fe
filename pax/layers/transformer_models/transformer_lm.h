#pragma once

#include "pax/layers/embedding.h"
#include "pax/layers/positions.h"
#include "pax/layers/softmax/full_softmax.h"
#include "pax/layers/transformer_models/lm_loss.h"
#include "pax/layers/transformers/stacked_transformer.h"

namespace pax {

// B: batch, T: positions, D: model dimension, V: vocabulary.

/// Which tokens a token sees: those before it; those before it and the whole prefix; all.
enum class LanguageModelType : uint8_t { kCausal, kPrefix, kBidirectional };
/// "causal", "prefix", "bidirectional".
std::span<const std::pair<LanguageModelType, std::string_view>> enum_names(LanguageModelType);

struct LmInputs {
  Tensor ids_bt;
  Tensor paddings_bt;                     ///< 1 at padding
  Tensor segment_ids_bt, segment_pos_bt;  ///< of packed input; null: what is no padding is one segment
  Tensor causal_bt;                       ///< 1 where causal attention counts, 0 in a prefix; null: everywhere
  Tensor token_types_bt;                  ///< kinds of tokens, for models that tell them apart; null: all 0
  Tensor segment_mask;  ///< [B, 1, T, T] in place of the one that segments and model type give; may be null
  DecodeCache* cache = nullptr;
};

struct LmStep {
  Tensor ids_b;
  Tensor time_step;        ///< i32: where in the cache this step goes; a scalar, or [B]
  Tensor segment_pos_b;    ///< null: the time step
  Tensor mask;             ///< [1|B, 1, S]; null: causal
  int64_t max_length = 0;  ///< S
  DecodeCache* cache = nullptr;
};

/// A decoder-only language model: ids in, loss or logits out.
class LanguageModelLayer : public Layer {
 public:
  using Interface = LanguageModelLayer;
  using Layer::fprop;
  using Layer::Layer;

  /// [B, T, D]: what goes into the softmax.
  virtual Tensor activations(const LmInputs& inputs) const = 0;
  /// Loss against `labels`.
  virtual LmOutput fprop(const LmInputs& inputs, const LmLabels& labels) const = 0;
  /// Logits and what follows from them.
  virtual LmOutput predict(const LmInputs& inputs) const = 0;
  /// [B, V]: logits of one step.
  virtual Tensor extend_step(const LmStep& step) const;
};

/// Embedding, positions, Transformer stack, normalisation, softmax (praxis transformer_models.TransformerLm).
class TransformerLm final : public LanguageModelLayer {
 public:
  struct Config : LayerConfig {
    using Product = TransformerLm;
    static constexpr std::string_view kName = "praxis.layers.TransformerLm";
    static constexpr std::string_view kAliases[] = {"praxis.layers.transformer_models.TransformerLm"};
    static constexpr std::string_view kDoc = "Transformer language model.";
    Tpl<BasePositionalEmbedding> position_emb_tpl = PositionalEmbedding::Config{};
    int64_t model_dims = 0;
    Tpl<TransformerStack> stacked_transformer_tpl = StackedTransformer::Config{};
    Tpl<Softmax> softmax_tpl = SharedEmbeddingSoftmax::Config{};
    int64_t vocab_size = 0;
    bool packed_input = false;
    LanguageModelType model_type = LanguageModelType::kCausal;
    Tpl<Layer> ngrammer_tpl;
    std::optional<std::vector<Tpl<Layer>>> post_attention_ngrammer_tpls;
    Tpl<Layer> separate_embedding_tpl;
    Tpl<Layer> final_ln_tpl = LayerNorm::Config{};
    bool skip_compute_loss = false;
    bool skip_aux_loss = false;
    bool record_activations_in_xent_output = false;
    bool record_logits_in_xent_output = false;
    std::optional<double> entropy_loss_weight;
    std::optional<double> router_loss_weight;
    Tpl<Layer> token_type_embedding_tpl;
    Tpl<Layer> embedding_ln_tpl;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("position_emb_tpl", self.position_emb_tpl, "Null: none (rotary positions are part of attention).");
      visit("model_dims", self.model_dims);
      visit("stacked_transformer_tpl", self.stacked_transformer_tpl);
      visit("softmax_tpl", self.softmax_tpl);
      visit("vocab_size", self.vocab_size, {.doc = "", .min = 0});
      visit("packed_input", self.packed_input, "A row may hold several sequences.");
      visit("model_type", self.model_type, "Which tokens a token sees.");
      visit("ngrammer_tpl", self.ngrammer_tpl);
      visit("post_attention_ngrammer_tpls", self.post_attention_ngrammer_tpls);
      visit("separate_embedding_tpl", self.separate_embedding_tpl, "Null: the softmax is the embedding, too.");
      visit("final_ln_tpl", self.final_ln_tpl);
      visit("skip_compute_loss", self.skip_compute_loss);
      visit("skip_aux_loss", self.skip_aux_loss, "Leave auxiliary losses out of the total.");
      visit("record_activations_in_xent_output", self.record_activations_in_xent_output);
      visit("record_logits_in_xent_output", self.record_logits_in_xent_output);
      visit("entropy_loss_weight", self.entropy_loss_weight, "Weight of the mean of sum(p log p).");
      visit("router_loss_weight", self.router_loss_weight,
            "Weight of the load-balancing loss over the routers (dense_topk) of all layers together.");
      visit("token_type_embedding_tpl", self.token_type_embedding_tpl, "Added to embeddings by the kind of a token.");
      visit("embedding_ln_tpl", self.embedding_ln_tpl, "Normalises the sum of all embeddings.");
    }
  };
  TransformerLm(const Config& config, const Scope& scope);
  using LanguageModelLayer::fprop;
  Tensor activations(const LmInputs& inputs) const override;
  LmOutput fprop(const LmInputs& inputs, const LmLabels& labels) const override;
  LmOutput predict(const LmInputs& inputs) const override;
  Tensor extend_step(const LmStep& step) const override;

 private:
  Tpl<TransformerStack> stack_template() const;
  Tensor embed(Tensor ids) const;
  /// What goes into the first layer, from embeddings with positions.
  Tensor finish_embedding(Tensor x, Tensor token_types) const;
  void add_router_loss(LmOutput& output) const;
  void add_entropy_loss(LmOutput& output, const LmLabels& labels) const;

  const Config config_;
  Child<BasePositionalEmbedding> position_emb_;
  Child<Layer> embedding_lookup_, token_type_embedding_, embedding_ln_, final_ln_;
  Child<TransformerStack> transformer_;
  Child<Softmax> softmax_;
};
extern template const config::ConfigType& config::type_of<TransformerLm::Config>();

}  // namespace pax
