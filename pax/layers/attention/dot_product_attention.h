#pragma once

#include "pax/layers/attention/attention.h"
#include "pax/layers/attention/attention_dims.h"
#include "pax/layers/attention/causal_depthwise_conv1d.h"
#include "pax/layers/attention/per_dim_scale.h"
#include "pax/layers/attention/projections.h"
#include "pax/layers/attention/relative_bias.h"
#include "pax/layers/attention/xl_positions.h"
#include "pax/layers/positions.h"
#include "pax/layers/stochastics.h"

namespace pax {

/// Multi-head attention, softmax in float32 (praxis attentions.DotProductAttention; Vaswani et al. 2017).
class DotProductAttention : public Attention {
 public:
  struct Config : LayerConfig {
    using Product = DotProductAttention;
    static constexpr std::string_view kName = "praxis.layers.DotProductAttention";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.DotProductAttention",
                                                   "praxis.layers.attentions.DotProductAttentionWithLPB"};
    static constexpr std::string_view kDoc = "Multi-head attention.";
    AttentionInputDim input_dim = int64_t{0};
    int64_t hidden_dim = 0;
    int64_t num_heads = 1;
    std::optional<int64_t> dim_per_head;
    Tpl<Layer> dropout_tpl = Dropout::Config{};
    double atten_dropout_prob = 0.0;
    Tpl<Layer> proj_tpl = AttentionProjection::Config{};
    bool dconv_qkv = false;
    int64_t dconv_kernel_size = 3;
    bool internal_gshard_gaussian_init = false;
    bool combine_qkv = false;
    Tpl<CombinedQKVProjectionLayer> combined_qkv_proj_tpl = CombinedQKVProjectionLayer::Config{};
    bool use_bias = true;
    bool output_proj_use_nhd_shape = false;
    bool internal_enable_query_scale = true;
    bool internal_enable_per_dim_scale = true;
    bool scale_query_by_dim_per_head = false;
    bool scale_logits_by_head_dims = false;
    double atten_logit_cap = 0.0;
    bool use_rotary_position_emb = false;
    bool consolidate_rope_key_state = false;
    Tpl<RotaryPositionalEmbedding> rotary_position_emb_tpl = RotaryPositionalEmbedding::Config{};
    bool cast_rotary_position_emb = true;
    Tpl<RelativeBias> relative_bias_tpl;
    std::optional<double> attention_extra_logit;
    Tpl<Layer> ngrammer_tpl;
    bool decode_cache = true;
    bool attention_mask_summary = false;
    bool zero_fully_masked = false;
    Tpl<EinsumOp> qk_einsum_tpl = EinsumOp::Config{};
    Tpl<EinsumOp> pv_einsum_tpl = EinsumOp::Config{};
    Tpl<Layer> per_dim_scale_tpl = PerDimScale::Config{};
    Tpl<CausalDepthwiseConv1D> causal_depthwise_conv1d_tpl = CausalDepthwiseConv1D::Config{};
    Tpl<Layer> ln_tpl;
    bool decoding_maybe_shard_projections = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dim", self.input_dim, "Size of the inputs; or of query, key and value.");
      visit("hidden_dim", self.hidden_dim, "Heads times head dimension, unless dim_per_head is set.");
      visit("num_heads", self.num_heads, {.doc = "", .min = 1});
      visit("dim_per_head", self.dim_per_head, "hidden_dim / num_heads when unset.");
      visit("dropout_tpl", self.dropout_tpl);
      visit("atten_dropout_prob", self.atten_dropout_prob, {.doc = "Of attention weights.", .min = 0, .max = 1});
      visit("proj_tpl", self.proj_tpl);
      visit("dconv_qkv", self.dconv_qkv, "Convolve queries, keys and values over past positions (Primer).");
      visit("dconv_kernel_size", self.dconv_kernel_size, {.doc = "", .min = 1});
      visit("internal_gshard_gaussian_init", self.internal_gshard_gaussian_init);
      visit("combine_qkv", self.combine_qkv, "One weight for queries, keys and values; self-attention only.");
      visit("combined_qkv_proj_tpl", self.combined_qkv_proj_tpl);
      visit("use_bias", self.use_bias, "Of the projections.");
      visit("output_proj_use_nhd_shape", self.output_proj_use_nhd_shape);
      visit("internal_enable_query_scale", self.internal_enable_query_scale);
      visit("internal_enable_per_dim_scale", self.internal_enable_per_dim_scale);
      visit("scale_query_by_dim_per_head", self.scale_query_by_dim_per_head,
            "Without per-dim scale: by dim_per_head instead of hidden_dim / num_heads.");
      visit("scale_logits_by_head_dims", self.scale_logits_by_head_dims);
      visit("atten_logit_cap", self.atten_logit_cap, "Logits stay within this by tanh; 0: no cap.");
      visit("use_rotary_position_emb", self.use_rotary_position_emb);
      visit("consolidate_rope_key_state", self.consolidate_rope_key_state);
      visit("rotary_position_emb_tpl", self.rotary_position_emb_tpl);
      visit("cast_rotary_position_emb", self.cast_rotary_position_emb);
      visit("relative_bias_tpl", self.relative_bias_tpl);
      visit("attention_extra_logit", self.attention_extra_logit, "Logit of a key that is always there and holds 0.");
      visit("ngrammer_tpl", self.ngrammer_tpl);
      visit("decode_cache", self.decode_cache);
      visit("attention_mask_summary", self.attention_mask_summary);
      visit("zero_fully_masked", self.zero_fully_masked, "Give 0 for queries that may look nowhere.");
      visit("qk_einsum_tpl", self.qk_einsum_tpl);
      visit("pv_einsum_tpl", self.pv_einsum_tpl);
      visit("per_dim_scale_tpl", self.per_dim_scale_tpl);
      visit("causal_depthwise_conv1d_tpl", self.causal_depthwise_conv1d_tpl);
      visit("ln_tpl", self.ln_tpl, "Normalises queries and keys of each head.");
      visit("decoding_maybe_shard_projections", self.decoding_maybe_shard_projections);
    }
  };

  DotProductAttention(const Config& config, const Scope& scope);
  AttentionOutput fprop(const AttentionInputs& inputs) const override;
  Tensor extend_step(const AttentionStep& step) const override;
  /// Whether it masks what is far by itself, over all positions.
  virtual bool limits_context() const { return false; }

 protected:
  /// What attention works on once inputs are projected.
  struct Heads {
    Tensor query, key, value;  ///< [B, T, N, H], [B, S, N, H] twice
    Tensor mask;               ///< [1|B, 1, 1|T, S]
    Tensor relative_bias;      ///< [1|B, N, T, S]; may be null
  };
  struct Context {
    Tensor encoded;  ///< [B, T, N, H]
    Tensor probs;
  };
  /// The heart of the layer, from projections to context.
  virtual Context attend(const Heads& heads) const;
  /// [B, N, T, S].
  virtual Tensor logits(Tensor query_btnh, Tensor key_bsnh) const;
  /// [B, N, S] of one query against the cached keys.
  virtual Tensor logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const;
  /// What a step may see, [1|B, 1, S].
  virtual Tensor mask_one_step(Tensor mask, Tensor time_step) const;

  const Config& config() const { return config_; }
  int64_t head_dim() const { return head_dim_; }
  Tensor scale_query(Tensor query) const;
  /// Softmax over the last dimension of capped logits, in float32, where the mask allows; in `dtype`.
  Tensor probabilities(Tensor logits, Tensor mask, DType dtype) const;
  Tensor drop(Tensor probs) const { return atten_dropout_->fprop(probs); }
  Tensor shard_bnh(Tensor x) const;
  /// A projection of `input_dim` into the heads, as the config's template has it. `gshard_fan_in`: what GShard's
  /// initialisation scales by.
  Tpl<Layer> projection(int64_t input_dim, double gshard_fan_in) const;
  /// Declares what attention by relative positions needs.
  XlPositions xl_positions(int64_t rel_pos_emb_dim) const;
  Tensor weigh_values(std::string_view equation, Tensor probs, Tensor value) const;

 private:
  void add_projections();
  Heads project(const AttentionInputs& inputs) const;
  Heads project_step(const AttentionStep& step) const;
  Tensor attend_one_step(const Heads& heads, Tensor time_step) const;

  const Config config_;
  const int64_t head_dim_;
  Child<Layer> query_, key_, value_, post_, per_dim_scale_, atten_dropout_, layer_norm_q_, layer_norm_k_;
  Child<CombinedQKVProjectionLayer> combined_qkv_;
  Child<RotaryPositionalEmbedding> rotary_position_emb_;
  Child<RelativeBias> relative_bias_;
  Child<CausalDepthwiseConv1D> dconv_q_, dconv_k_, dconv_v_;
  Child<EinsumOp> qk_einsum_, pv_einsum_;
};
extern template const config::ConfigType& config::type_of<DotProductAttention::Config>();

}  // namespace pax
