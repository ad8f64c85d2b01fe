#pragma once

#include "pax/layers/base_ops.h"

namespace pax {

/// Into heads, [..., input_dim] -> [..., num_heads, dim_per_head], or back out of them (praxis
/// attentions.AttentionProjection).
class AttentionProjection : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = AttentionProjection;
    static constexpr std::string_view kName = "praxis.layers.AttentionProjection";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.AttentionProjection"};
    static constexpr std::string_view kDoc = "Projection into the heads of an attention, or out of them.";
    int64_t input_dim = 0;
    int64_t num_heads = 0;
    int64_t dim_per_head = 0;
    bool is_output_projection = false;
    bool use_bias = true;
    bool attention_combine_dims = false;
    bool use_nhd_shape = false;
    bool explicit_fan_in_fan_out_axes = false;
    Tpl<EinsumOp> einsum_tpl = EinsumOp::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dim", self.input_dim, "Size of the side without heads.");
      visit("num_heads", self.num_heads);
      visit("dim_per_head", self.dim_per_head);
      visit("is_output_projection", self.is_output_projection, "Out of the heads instead of into them.");
      visit("use_bias", self.use_bias);
      visit("attention_combine_dims", self.attention_combine_dims,
            "Keep heads and head dimension as one in the weight.");
      visit("use_nhd_shape", self.use_nhd_shape, "Keep an output projection as [heads, head, input].");
      visit("explicit_fan_in_fan_out_axes", self.explicit_fan_in_fan_out_axes);
      visit("einsum_tpl", self.einsum_tpl);
    }
  };
  AttentionProjection(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 protected:
  enum class Weight : uint8_t { kOwn, kOfDerived };
  AttentionProjection(const Config& config, const Scope& scope, Weight weight);
  /// How the weight is declared.
  ParamSpec weight_spec() const;
  /// `x` times the weight.
  virtual Tensor product(std::string_view equation, Tensor x) const;
  Tensor w_;  ///< [D, N, H], or [N, H, D]; N and H may be one. What derives from it may add to it

 private:
  const Config config_;
  const Child<EinsumOp> einsum_;
  Tensor b_;  ///< [N, H], of an output projection [D]; null when unused
};
extern template const config::ConfigType& config::type_of<AttentionProjection::Config>();

/// Queries, keys and values of self-attention from one weight [3, D, N, H] (praxis
/// attentions.CombinedQKVProjectionLayer).
class CombinedQKVProjectionLayer : public Layer {
 public:
  using Interface = CombinedQKVProjectionLayer;
  struct Config : LayerConfig {
    using Product = CombinedQKVProjectionLayer;
    static constexpr std::string_view kName = "praxis.layers.CombinedQKVProjectionLayer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.attentions.CombinedQKVProjectionLayer"};
    static constexpr std::string_view kDoc = "Queries, keys and values from one weight.";
    int64_t input_dim = 0;
    int64_t num_heads = 0;
    int64_t dim_per_head = 0;
    bool use_bias = true;
    bool attention_combine_dims = false;
    bool explicit_fan_in_fan_out_axes = false;
    Tpl<EinsumOp> einsum_tpl = EinsumOp::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dim", self.input_dim);
      visit("num_heads", self.num_heads);
      visit("dim_per_head", self.dim_per_head);
      visit("use_bias", self.use_bias);
      visit("attention_combine_dims", self.attention_combine_dims,
            "Keep heads and head dimension as one in the weight.");
      visit("explicit_fan_in_fan_out_axes", self.explicit_fan_in_fan_out_axes);
      visit("einsum_tpl", self.einsum_tpl);
    }
  };
  struct Heads {
    Tensor query, key, value;  ///< [..., num_heads, dim_per_head]
  };
  CombinedQKVProjectionLayer(const Config& config, const Scope& scope);
  Heads project(Tensor x) const;

 protected:
  enum class Weight : uint8_t { kOwn, kOfDerived };
  CombinedQKVProjectionLayer(const Config& config, const Scope& scope, Weight weight);
  /// How the weight is declared.
  ParamSpec weight_spec() const;
  /// `x` times the weight.
  virtual Tensor product(std::string_view equation, Tensor x) const;
  Tensor w_;  ///< [3, D, N, H]; what derives from it may add to it

 private:
  const Config config_;
  const Child<EinsumOp> einsum_;
  Tensor b_;  ///< [3, N, H]; null when unused
};
extern template const config::ConfigType& config::type_of<CombinedQKVProjectionLayer::Config>();

/// Keys or values that all heads share: [..., input_dim] -> [..., output_dim] (praxis
/// multi_query_attention.OneHeadedAttentionProjection).
class OneHeadedAttentionProjection final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = OneHeadedAttentionProjection;
    static constexpr std::string_view kName = "praxis.layers.OneHeadedAttentionProjection";
    static constexpr std::string_view kAliases[] = {"praxis.layers.multi_query_attention.OneHeadedAttentionProjection"};
    static constexpr std::string_view kDoc = "Projection to the one head of keys or values.";
    int64_t input_dim = 0;
    int64_t output_dim = 0;
    bool use_bias = true;
    Tpl<EinsumOp> einsum_tpl = EinsumOp::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dim", self.input_dim);
      visit("output_dim", self.output_dim);
      visit("use_bias", self.use_bias);
      visit("einsum_tpl", self.einsum_tpl);
    }
  };
  OneHeadedAttentionProjection(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const Child<EinsumOp> einsum_;
  Tensor w_;  ///< [D, H]
  Tensor b_;  ///< [H]; null when unused
};
extern template const config::ConfigType& config::type_of<OneHeadedAttentionProjection::Config>();

}  // namespace pax
