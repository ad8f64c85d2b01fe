#pragma once

#include "pax/layers/attention/projections.h"
#include "pax/layers/einsum.h"
#include "pax/layers/linears.h"
#include "pax/layers/quantization/quantized_weight.h"

namespace pax {

// Layers that work with few bits in place of those of the same name. Their configs have `quantization`: null makes them
// the plain layers.

/// What their configs have beside the plain layer's.
struct QuantizedConfig {
  std::optional<QuantizationParams> quantization = QuantizationParams{};
  config::Value sparsity;
  static void fields(auto& self, auto&& visit) {
    visit("quantization", self.quantization, "How it is quantised; null: not.");
    visit("sparsity", self.sparsity, "Not supported: null.");
  }
};

/// Linear (praxis quantization.linears.Linear); with `rank`, as the product of two thin weights w_a and w_b.
class QuantizedLinear final : public BaseLinear {
 public:
  struct Config : LayerConfig, QuantizedConfig {
    using Product = QuantizedLinear;
    static constexpr std::string_view kName = "praxis.layers.quantization.linears.Linear";
    static constexpr std::string_view kAliases[] = {"praxis.layers.quantization.Linear"};
    static constexpr std::string_view kDoc = "Linear with few bits.";
    int64_t input_dims = 0;
    int64_t output_dims = 0;
    std::optional<WeightInit> weight_init;
    Tpl<EinsumOp> einsum_tpl = EinsumOp::Config{};
    int64_t rank = -1;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Size of the input's last axis.");
      visit("output_dims", self.output_dims, "Size of the output's last axis.");
      visit("weight_init", self.weight_init, "Not used by this layer, as in Praxis.");
      visit("einsum_tpl", self.einsum_tpl, "Not used by this layer, as in Praxis.");
      QuantizedConfig::fields(self, visit);
      visit("rank", self.rank, "Of the weight as a product; -1: one weight.");
    }
  };
  QuantizedLinear(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;
  /// Throws ShapeError: there is no float weight.
  Tensor weight() const override;

 private:
  QuantizedWeight w_, w_a_, w_b_;  ///< the first, or the other two
  bool low_rank_ = false;
};
extern template const config::ConfigType& config::type_of<QuantizedLinear::Config>();

/// AttentionProjection (praxis quantization.attentions.AttentionProjection).
class QuantizedAttentionProjection final : public AttentionProjection {
 public:
  struct Config : AttentionProjection::Config, QuantizedConfig {
    using Product = QuantizedAttentionProjection;
    static constexpr std::string_view kName = "praxis.layers.quantization.attentions.AttentionProjection";
    static constexpr std::string_view kAliases[] = {"praxis.layers.quantization.AttentionProjection"};
    static constexpr std::string_view kDoc = "AttentionProjection with few bits.";
    static void fields(auto& self, auto&& visit) {
      AttentionProjection::Config::fields(self, visit);
      QuantizedConfig::fields(self, visit);
    }
  };
  QuantizedAttentionProjection(const Config& config, const Scope& scope);

 private:
  Tensor product(std::string_view equation, Tensor x) const override;
  QuantizedWeight weight_;
};
extern template const config::ConfigType& config::type_of<QuantizedAttentionProjection::Config>();

/// CombinedQKVProjectionLayer (praxis quantization.attentions.CombinedQKVProjectionLayer).
class QuantizedCombinedQKVProjectionLayer final : public CombinedQKVProjectionLayer {
 public:
  struct Config : CombinedQKVProjectionLayer::Config, QuantizedConfig {
    using Product = QuantizedCombinedQKVProjectionLayer;
    static constexpr std::string_view kName = "praxis.layers.quantization.attentions.CombinedQKVProjectionLayer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.quantization.CombinedQKVProjectionLayer"};
    static constexpr std::string_view kDoc = "CombinedQKVProjectionLayer with few bits.";
    static void fields(auto& self, auto&& visit) {
      CombinedQKVProjectionLayer::Config::fields(self, visit);
      QuantizedConfig::fields(self, visit);
    }
  };
  QuantizedCombinedQKVProjectionLayer(const Config& config, const Scope& scope);

 private:
  Tensor product(std::string_view equation, Tensor x) const override;
  QuantizedWeight weight_;
};
extern template const config::ConfigType& config::type_of<QuantizedCombinedQKVProjectionLayer::Config>();

}  // namespace pax
