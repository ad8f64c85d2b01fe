#pragma once

#include "pax/layers/attention/blocks.h"
#include "pax/layers/attention/dot_product_attention.h"

namespace pax {

/// `mask` [1|B, 1, S] of a step without what is further than that from `time_step`. The left one includes the step.
Tensor near_in_step(Tensor mask, Tensor time_step, std::optional<int64_t> left, std::optional<int64_t> right);

/// Self-attention to near positions, block by block: time and memory grow with T * window, not T * T (praxis
/// attentions.LocalSelfAttention).
class LocalSelfAttention : public DotProductAttention {
 public:
  struct Config : DotProductAttention::Config {
    using Product = LocalSelfAttention;
    static constexpr std::string_view kName = "praxis.layers.LocalSelfAttention";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.LocalSelfAttention"};
    static constexpr std::string_view kDoc = "Self-attention to near positions.";
    std::optional<int64_t> block_size;
    std::optional<int64_t> left_context;
    std::optional<int64_t> right_context;
    bool simulated = false;
    static void fields(auto& self, auto&& visit) {
      DotProductAttention::Config::fields(self, visit);
      visit("block_size", self.block_size, "max(1, right_context, left_context - 1) when unset.");
      visit("left_context", self.left_context, "Positions seen to the left, the present one included.");
      visit("right_context", self.right_context, "Positions seen to the right.");
      visit("simulated", self.simulated, "By a mask over all positions.");
    }
  };
  LocalSelfAttention(const Config& config, const Scope& scope);

 protected:
  Context attend(const Heads& heads) const override;
  Tensor mask_one_step(Tensor mask, Tensor time_step) const override;
  /// [B, N, U, W, C] of queries [B, U, W, N, H] and keys [B, U, C, N, H]; when simulated as in plain attention.
  Tensor logits(Tensor query, Tensor key) const override;
  const BlockSizes& sizes() const { return sizes_; }

 private:
  Tensor masks_of_blocks(Tensor mask, int64_t queries) const;

  const std::optional<int64_t> left_, right_;
  const bool simulated_;
  const BlockSizes sizes_;
};
extern template const config::ConfigType& config::type_of<LocalSelfAttention::Config>();

/// Local self-attention by content and relative position (praxis attentions.LocalSelfAttentionXL).
class LocalSelfAttentionXL final : public LocalSelfAttention {
 public:
  struct Config : LocalSelfAttention::Config {
    using Product = LocalSelfAttentionXL;
    static constexpr std::string_view kName = "praxis.layers.LocalSelfAttentionXL";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.LocalSelfAttentionXL"};
    static constexpr std::string_view kDoc = "Local self-attention by content and relative position.";
    int64_t rel_pos_emb_dim = 0;
    static void fields(auto& self, auto&& visit) {
      LocalSelfAttention::Config::fields(self, visit);
      visit("rel_pos_emb_dim", self.rel_pos_emb_dim, "Size of the sinusoids of the distance.");
    }
  };
  LocalSelfAttentionXL(const Config& config, const Scope& scope);

 private:
  Tensor logits(Tensor query, Tensor key) const override;
  Tensor logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const override;
  const XlPositions positions_;
};
extern template const config::ConfigType& config::type_of<LocalSelfAttentionXL::Config>();

/// Local self-attention with a learnt bias for each head and distance (praxis
/// attentions.LocalSelfAttentionRelativeBias).
class LocalSelfAttentionRelativeBias final : public LocalSelfAttention {
 public:
  struct Config : LocalSelfAttention::Config {
    using Product = LocalSelfAttentionRelativeBias;
    static constexpr std::string_view kName = "praxis.layers.LocalSelfAttentionRelativeBias";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.LocalSelfAttentionRelativeBias"};
    static constexpr std::string_view kDoc = "Local self-attention with a learnt bias for each distance.";
  };
  LocalSelfAttentionRelativeBias(const Config& config, const Scope& scope);

 private:
  Tensor logits(Tensor query, Tensor key) const override;
  Tensor logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const override;
  Tensor pos_emb_compressed_;  ///< [N, C + W - 1]
};
extern template const config::ConfigType& config::type_of<LocalSelfAttentionRelativeBias::Config>();

/// Local self-attention with a bias proportional to the distance (praxis attentions.LocalSelfAttentionAlibi; Press et
/// al. 2021).
class LocalSelfAttentionAlibi final : public LocalSelfAttention {
 public:
  struct Config : LocalSelfAttention::Config {
    using Product = LocalSelfAttentionAlibi;
    static constexpr std::string_view kName = "praxis.layers.LocalSelfAttentionAlibi";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.LocalSelfAttentionAlibi"};
    static constexpr std::string_view kDoc = "Local self-attention with a bias proportional to the distance.";
  };
  using LocalSelfAttention::LocalSelfAttention;

 private:
  Tensor logits(Tensor query, Tensor key) const override;
  Tensor logits_one_step(Tensor query_bnh, Tensor key_bsnh, Tensor time_step) const override;
  /// [N, 1, 1].
  Tensor slopes(DType dtype) const;
};
extern template const config::ConfigType& config::type_of<LocalSelfAttentionAlibi::Config>();

}  // namespace pax
