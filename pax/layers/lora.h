#pragma once

#include "pax/layers/attention/projections.h"
#include "pax/layers/linears.h"

namespace pax {

// Low-rank adaptation (Hu et al. 2021): a weight plus the product of two thin ones, `lora_a` [input, rank] and `lora_b`
// [output, rank], which begins at 0. To train only those, exclude all other variables from the backward pass.

/// Members of the configs of such layers.
struct LoraConfig {
  int64_t rank = 0;
  std::optional<WeightInit> lora_init;
  static void fields(auto& self, auto&& visit) {
    visit("rank", self.rank, {.doc = "Of the product that is added to the weight.", .min = 0});
    visit("lora_init", self.lora_init, "How lora_a begins; null: as the weight.");
  }
};

/// The thin weights of one addition.
struct LoraWeights {
  Tensor a;  ///< [input, rank]; null: none
  Tensor b;  ///< [output, rank]
};
/// Declares them in `scope` as `lora_a` and `lora_b`. `otherwise`: how lora_a begins when the config does not say.
LoraWeights declare_lora(const LoraConfig& config, const Scope& scope, const Shape& input, const Shape& output,
                         std::optional<WeightInit> otherwise = {});
/// `w` plus their product; `w` itself without them. To be called in the forward pass: repeated layers have another
/// weight each time.
Tensor with_lora(Tensor w, const LoraWeights& lora);

/// Linear with such a weight (praxis lora_layers.LoraLinear).
class LoraLinear final : public Linear {
 public:
  struct Config : Linear::Config, LoraConfig {
    using Product = LoraLinear;
    static constexpr std::string_view kName = "praxis.contrib.gpu.scripts_gpu.lora_layers.LoraLinear";
    static constexpr std::string_view kAliases[] = {"praxis.layers.LoraLinear"};
    static constexpr std::string_view kDoc = "Linear with a low-rank addition to its weight.";
    static void fields(auto& self, auto&& visit) {
      Linear::Config::fields(self, visit);
      LoraConfig::fields(self, visit);
    }
  };
  LoraLinear(const Config& config, const Scope& scope);
};
extern template const config::ConfigType& config::type_of<LoraLinear::Config>();

/// AttentionProjection with such a weight (praxis lora_layers.LoraAttentionProjection).
class LoraAttentionProjection final : public AttentionProjection {
 public:
  struct Config : AttentionProjection::Config, LoraConfig {
    using Product = LoraAttentionProjection;
    static constexpr std::string_view kName = "praxis.contrib.gpu.scripts_gpu.lora_layers.LoraAttentionProjection";
    static constexpr std::string_view kAliases[] = {"praxis.layers.LoraAttentionProjection"};
    static constexpr std::string_view kDoc = "Attention projection with a low-rank addition to its weight.";
    static void fields(auto& self, auto&& visit) {
      AttentionProjection::Config::fields(self, visit);
      LoraConfig::fields(self, visit);
    }
  };
  LoraAttentionProjection(const Config& config, const Scope& scope);
};
extern template const config::ConfigType& config::type_of<LoraAttentionProjection::Config>();

/// CombinedQKVProjectionLayer with such a weight (praxis lora_layers.LoraCombinedQKVProjection).
class LoraCombinedQKVProjection final : public CombinedQKVProjectionLayer {
 public:
  struct Config : CombinedQKVProjectionLayer::Config, LoraConfig {
    using Product = LoraCombinedQKVProjection;
    static constexpr std::string_view kName = "praxis.contrib.gpu.scripts_gpu.lora_layers.LoraCombinedQKVProjection";
    static constexpr std::string_view kAliases[] = {"praxis.layers.LoraCombinedQKVProjection"};
    static constexpr std::string_view kDoc = "Combined query, key and value projection with a low-rank addition.";
    static void fields(auto& self, auto&& visit) {
      CombinedQKVProjectionLayer::Config::fields(self, visit);
      LoraConfig::fields(self, visit);
    }
  };
  LoraCombinedQKVProjection(const Config& config, const Scope& scope);
};
extern template const config::ConfigType& config::type_of<LoraCombinedQKVProjection::Config>();

}  // namespace pax
