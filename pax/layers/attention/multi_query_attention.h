#pragma once

#include <array>

#include "pax/layers/attention/dot_product_attention.h"

namespace pax {

/// Multi-head attention whose heads share one head of keys and values, or a few (praxis
/// multi_query_attention.MultiQueryDotProductAttention; Shazeer 2019).
class MultiQueryDotProductAttention final : public Attention {
 public:
  struct Config : LayerConfig {
    using Product = MultiQueryDotProductAttention;
    static constexpr std::string_view kName = "praxis.layers.MultiQueryDotProductAttention";
    static constexpr std::string_view kAliases[] = {
        "praxis.layers.multi_query_attention.MultiQueryDotProductAttention",
        "praxis.layers.multi_query_attention.MultiQueryDotProductAttentionLPB"};
    static constexpr std::string_view kDoc = "Attention whose heads share keys and values.";
    AttentionInputDim input_dim = int64_t{0};
    int64_t hidden_dim = 0;
    int64_t num_heads = 1;
    int64_t num_kv_heads = 1;
    std::optional<int64_t> dim_per_head;
    Tpl<Layer> dropout_tpl = Dropout::Config{};
    double atten_dropout_prob = 0.0;
    Tpl<Layer> proj_tpl = AttentionProjection::Config{};
    Tpl<Layer> headless_proj_tpl = OneHeadedAttentionProjection::Config{};
    bool internal_gshard_gaussian_init = false;
    bool use_bias = true;
    bool output_proj_use_nhd_shape = false;
    bool internal_enable_query_scale = true;
    double atten_logit_cap = 0.0;
    bool use_rotary_position_emb = false;
    bool consolidate_rope_key_state = false;
    Tpl<RotaryPositionalEmbedding> rotary_position_emb_tpl = RotaryPositionalEmbedding::Config{};
    Tpl<RelativeBias> relative_bias_tpl;
    std::optional<double> attention_extra_logit;
    bool dconv_qkv = false;
    bool combine_qkv = false;
    bool decode_cache = true;
    Tpl<EinsumOp> qk_einsum_tpl = EinsumOp::Config{};
    Tpl<EinsumOp> pv_einsum_tpl = EinsumOp::Config{};
    bool scale_query_by_dim_per_head = false;
    int64_t chunked_attn_num_seq_split = 1;
    std::optional<std::array<int64_t, 2>> local_window_size;
    bool zero_fully_masked = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dim", self.input_dim, "Size of the inputs; or of query, key and value.");
      visit("hidden_dim", self.hidden_dim, "Heads times head dimension, unless dim_per_head is set.");
      visit("num_heads", self.num_heads, {.doc = "Of queries.", .min = 1});
      visit("num_kv_heads", self.num_kv_heads, {.doc = "Of keys and values; divides num_heads.", .min = 1});
      visit("dim_per_head", self.dim_per_head, "hidden_dim / num_heads when unset.");
      visit("dropout_tpl", self.dropout_tpl);
      visit("atten_dropout_prob", self.atten_dropout_prob, {.doc = "Of attention weights.", .min = 0, .max = 1});
      visit("proj_tpl", self.proj_tpl);
      visit("headless_proj_tpl", self.headless_proj_tpl, "Of keys and values with one head.");
      visit("internal_gshard_gaussian_init", self.internal_gshard_gaussian_init);
      visit("use_bias", self.use_bias, "Of the projections.");
      visit("output_proj_use_nhd_shape", self.output_proj_use_nhd_shape);
      visit("internal_enable_query_scale", self.internal_enable_query_scale);
      visit("atten_logit_cap", self.atten_logit_cap, "Logits stay within this by tanh; 0: no cap.");
      visit("use_rotary_position_emb", self.use_rotary_position_emb);
      visit("consolidate_rope_key_state", self.consolidate_rope_key_state);
      visit("rotary_position_emb_tpl", self.rotary_position_emb_tpl);
      visit("relative_bias_tpl", self.relative_bias_tpl);
      visit("attention_extra_logit", self.attention_extra_logit, "Logit of a key that is always there and holds 0.");
      visit("dconv_qkv", self.dconv_qkv, "Not supported.");
      visit("combine_qkv", self.combine_qkv, "Not supported.");
      visit("decode_cache", self.decode_cache);
      visit("qk_einsum_tpl", self.qk_einsum_tpl);
      visit("pv_einsum_tpl", self.pv_einsum_tpl);
      visit("scale_query_by_dim_per_head", self.scale_query_by_dim_per_head,
            "By dim_per_head instead of hidden_dim / num_heads.");
      visit("chunked_attn_num_seq_split", self.chunked_attn_num_seq_split,
            {.doc = "Parts of the sequence that attend one after the other, each to what is before it.", .min = 1});
      visit("local_window_size", self.local_window_size, "Positions seen to the left and to the right.");
      visit("zero_fully_masked", self.zero_fully_masked, "Give 0 for queries that may look nowhere.");
    }
  };
  MultiQueryDotProductAttention(const Config& config, const Scope& scope);
  using Attention::fprop;
  AttentionOutput fprop(const AttentionInputs& inputs) const override;
  Tensor extend_step(const AttentionStep& step) const override;

 private:
  /// Keys and values are [B, S, H], or [B, S, K, H] with several heads.
  struct Heads {
    Tensor query, key, value, mask, relative_bias;
  };
  struct Context {
    Tensor encoded, probs;
  };
  Heads project(const AttentionInputs& inputs) const;
  Tensor rotate_keys(Tensor key_bs, Tensor position) const;
  /// The mask [1|B, 1, T, S] without what lies outside of the local window; queries count from `first_query` (null: 0).
  Tensor within_window(Tensor mask, Tensor first_query) const;
  Context attend(const Heads& heads) const;
  Context attend_by_chunks(const Heads& heads) const;
  /// [B, N, T, S].
  Tensor logits(Tensor query_btnh, Tensor key) const;
  /// [B, T, N, H].
  Tensor weigh_values(Tensor probs_bnts, Tensor value) const;
  Tensor scale_query(Tensor query) const;
  Tensor probabilities(Tensor logits, Tensor mask, DType dtype) const;
  Tensor shard_kv(Tensor x) const;
  bool one_kv_head() const { return config_.num_kv_heads == 1; }

  const Config config_;
  const int64_t head_dim_;
  Child<Layer> query_, key_, value_, post_, atten_dropout_;
  Child<RotaryPositionalEmbedding> rotary_position_emb_;
  Child<RelativeBias> relative_bias_;
  Child<EinsumOp> qk_einsum_, pv_einsum_;
};
extern template const config::ConfigType& config::type_of<MultiQueryDotProductAttention::Config>();

}  // namespace pax
