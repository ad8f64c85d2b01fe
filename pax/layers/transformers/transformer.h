#pragma once

#include "pax/layers/attention/dot_product_attention.h"
#include "pax/layers/transformers/transformer_feed_forward.h"

namespace pax {

struct TransformerInputs {
  Tensor x_btd;
  Tensor paddings_bt;     ///< 1 at padding
  Tensor mask;            ///< [1|B, 1, 1|T, T]
  Tensor cross_bsd;       ///< what cross attention looks at; may be null
  Tensor cross_mask;      ///< [1|B, 1, 1|T, S]; may be null
  Tensor segment_pos_bt;  ///< may be null
  Tensor segment_ids_bt;  ///< may be null
  DecodeCache* cache = nullptr;
};

struct TransformerOutput {
  Tensor x_btd;
  Tensor self_atten_probs, cross_atten_probs;  ///< [B, N, T, S]; null when there is none
};

struct TransformerStep {
  Tensor x_bd;
  Tensor mask;        ///< [1|B, 1, T]
  Tensor cross_mask;  ///< [1|B, 1, S]; may be null
  Tensor time_step;   ///< i32 scalar
  Tensor segment_pos_b;
  DecodeCache* cache = nullptr;
};

/// One layer of a Transformer.
class TransformerLayer : public Layer {
 public:
  using Interface = TransformerLayer;
  using Layer::fprop;
  using Layer::Layer;
  virtual TransformerOutput fprop(const TransformerInputs& inputs) const = 0;
  virtual Tensor extend_step(const TransformerStep& step) const;
};

/// Self-attention, cross attention if wanted, feed-forward layer, each with residual connection and normalisation
/// (praxis transformers.Transformer).
class Transformer final : public TransformerLayer {
 public:
  struct Config : LayerConfig {
    using Product = Transformer;
    static constexpr std::string_view kName = "praxis.layers.Transformer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.transformers.Transformer"};
    static constexpr std::string_view kDoc = "Attention and feed-forward layer with residual connections.";
    int64_t input_dims = 0;
    int64_t hidden_dims = 0;
    std::optional<int64_t> num_heads;
    std::optional<int64_t> dim_per_head;
    Tpl<Layer> dropout_tpl = Dropout::Config{};
    double atten_dropout_prob = 0.0;
    double residual_dropout_prob = 0.0;
    double relu_dropout_prob = 0.0;
    double residual_droppath_prob = 0.0;
    bool use_cross_attention = false;
    bool allow_skip_cross_attention = false;
    Tpl<Attention> cross_atten_tpl;
    Tpl<Layer> ln_tpl = LayerNorm::Config{};
    NormPolicy norm_policy = NormPolicy::kPre;
    Tpl<Attention> tr_atten_tpl = DotProductAttention::Config{};
    bool packed_input = false;
    Tpl<TransformerFfn> tr_fflayer_tpl = TransformerFeedForward::Config{};
    Tpl<Layer> ngrammer_tpl;
    bool parallel_residual = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Model dimension.");
      visit("hidden_dims", self.hidden_dims, "Of the feed-forward layer.");
      visit("num_heads", self.num_heads);
      visit("dim_per_head", self.dim_per_head, "input_dims / num_heads when unset.");
      visit("dropout_tpl", self.dropout_tpl);
      visit("atten_dropout_prob", self.atten_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("residual_dropout_prob", self.residual_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("relu_dropout_prob", self.relu_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("residual_droppath_prob", self.residual_droppath_prob, {.doc = "", .min = 0, .max = 1});
      visit("use_cross_attention", self.use_cross_attention);
      visit("allow_skip_cross_attention", self.allow_skip_cross_attention, "Inputs may come without cross inputs.");
      visit("cross_atten_tpl", self.cross_atten_tpl, "tr_atten_tpl when unset.");
      visit("ln_tpl", self.ln_tpl);
      visit("norm_policy", self.norm_policy);
      visit("tr_atten_tpl", self.tr_atten_tpl);
      visit("packed_input", self.packed_input);
      visit("tr_fflayer_tpl", self.tr_fflayer_tpl);
      visit("ngrammer_tpl", self.ngrammer_tpl);
      visit("parallel_residual", self.parallel_residual, "x + attention(x) + feed-forward(x), side by side.");
    }
  };
  Transformer(const Config& config, const Scope& scope);
  using TransformerLayer::fprop;
  TransformerOutput fprop(const TransformerInputs& inputs) const override;
  Tensor extend_step(const TransformerStep& step) const override;

 private:
  /// The normalisations around one attention; which of them exist depends on the policy.
  struct Norms {
    Child<Layer> only, pre, post;
  };
  Norms norms(std::string_view only, std::string_view pre, std::string_view post) const;
  Child<Attention> attention(std::string_view name, const Tpl<Attention>& tpl) const;
  Tensor before(const Norms& norms, Tensor x) const;
  /// Normalisation of an attention's output, dropout, residual connection.
  Tensor after(const Norms& norms, Tensor residual, Tensor y) const;
  /// The layer's output from its input `x` and what attention made of it, `y`.
  Tensor feed_forward(Tensor x, Tensor y, Tensor paddings) const;
  void add_input_summaries(const TransformerInputs& inputs) const;

  const Config config_;
  Norms self_norms_, cross_norms_;
  Child<Attention> self_attention_, cross_attention_;
  Child<Layer> residual_dropout_;
  Child<StochasticResidual> residual_droppath_;
  Child<TransformerFfn> ff_layer_;
};
extern template const config::ConfigType& config::type_of<Transformer::Config>();

}  // namespace pax
