#pragma once

#include <array>

#include "pax/layers/attention/attention.h"
#include "pax/layers/lora.h"
#include "pax/layers/positions.h"

namespace pax {

/// Multi-head attention whose heads share keys and values in groups (praxis
/// grouped_query_attention.GroupedQueryAttention; Ainslie et al. 2023). Masks count where they are not 0.
class GroupedQueryAttention final : public Attention {
 public:
  struct Config : LayerConfig {
    using Product = GroupedQueryAttention;
    static constexpr std::string_view kName = "praxis.layers.GroupedQueryAttention";
    static constexpr std::string_view kAliases[] = {"praxis.layers.grouped_query_attention.GroupedQueryAttention"};
    static constexpr std::string_view kDoc = "Attention whose heads share keys and values in groups.";
    int64_t input_dim = 0;
    int64_t hidden_dim = 0;
    int64_t num_heads = 1;
    int64_t num_kv_heads = 1;
    int64_t dim_per_head = 0;
    double atten_dropout_prob = 0.0;
    double atten_temp = 1.0;
    bool use_bias = true;
    double atten_logit_cap = 0.0;
    std::optional<std::array<int64_t, 2>> rope_min_max_timescales;
    Tpl<RotaryPositionalEmbedding> rotary_position_emb_tpl;
    Tpl<Layer> ln_tpl;
    std::optional<bool> use_post_bias;
    std::optional<std::array<int64_t, 2>> local_window_size;
    int64_t lora_rank = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dim", self.input_dim, "Size of the inputs.");
      visit("hidden_dim", self.hidden_dim, "Not used.");
      visit("num_heads", self.num_heads, {.doc = "Of queries.", .min = 1});
      visit("num_kv_heads", self.num_kv_heads, {.doc = "Of keys and values; divides num_heads.", .min = 1});
      visit("dim_per_head", self.dim_per_head);
      visit("atten_dropout_prob", self.atten_dropout_prob, {.doc = "Of attention weights.", .min = 0, .max = 1});
      visit("atten_temp", self.atten_temp, "Logits are divided by this.");
      visit("use_bias", self.use_bias, "Of the projections.");
      visit("atten_logit_cap", self.atten_logit_cap, "Logits stay within this by tanh; 0: no cap.");
      visit("rope_min_max_timescales", self.rope_min_max_timescales, "Of rotary positions; unset: none.");
      visit("rotary_position_emb_tpl", self.rotary_position_emb_tpl, "In place of rope_min_max_timescales.");
      visit("ln_tpl", self.ln_tpl, "Normalises queries and keys of each head, before they turn.");
      visit("use_post_bias", self.use_post_bias, "Of the output projection; use_bias when unset.");
      visit("local_window_size", self.local_window_size, "Positions seen to the left and to the right.");
      visit("lora_rank", self.lora_rank, {.doc = "Of low-rank additions to the projections; 0: none.", .min = 0});
    }
  };
  GroupedQueryAttention(const Config& config, const Scope& scope);
  using Attention::fprop;
  AttentionOutput fprop(const AttentionInputs& inputs) const override;
  Tensor extend_step(const AttentionStep& step) const override;

 private:
  /// Weight [D, N, H] (or [D, H]) and bias of one projection.
  struct Projection {
    Tensor w, b;
    LoraWeights lora;
    Tensor weight() const { return with_lora(w, lora); }
  };
  enum class Direction : uint8_t { kIn, kOut };
  Projection projection(std::string_view name, int64_t num_heads, Direction direction) const;
  /// [B, T, K, H], also with one head.
  Tensor into_heads(std::string_view name, Tensor x, const Projection& projection) const;
  /// Queries or keys normalised and turned.
  Tensor place(const Child<Layer>& norm, Tensor x, Tensor position) const;
  Tensor within_window(Tensor mask, Tensor first_query) const;
  struct Context {
    Tensor encoded, probs;
  };
  Context attend(Tensor query_btnh, Tensor key_bskh, Tensor value_bskh, Tensor mask) const;
  Tensor out_of_heads(Tensor encoded_btnh) const;

  const Config config_;
  Projection query_, key_, value_, post_;
  Child<RotaryPositionalEmbedding> rope_;
  Child<Layer> layer_norm_q_, layer_norm_k_, dropout_;
};
extern template const config::ConfigType& config::type_of<GroupedQueryAttention::Config>();

}  // namespace pax
