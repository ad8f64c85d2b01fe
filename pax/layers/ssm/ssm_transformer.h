#pragma once

#include "pax/layers/ssm/state_space.h"
#include "pax/layers/transformers/transformer.h"

namespace pax {

/// A Transformer layer with a state-space model in place of self-attention (praxis ssm_transformers.SSMTransformer).
/// Cross attention and decoding step by step are not supported.
class SSMTransformer : public TransformerLayer {
 public:
  struct Config : Transformer::Config {
    using Product = SSMTransformer;
    static constexpr std::string_view kName = "praxis.layers.SSMTransformer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.ssm_transformers.SSMTransformer"};
    static constexpr std::string_view kDoc = "Transformer layer with a state-space model for self-attention.";
    Tpl<SSM> ssm_tpl = SSM::Config{};
    int64_t ssm_nheads = 0;
    int64_t ssm_dim = 0;
    int64_t ssm_l_max = 0;
    std::string ssm_hippo_type = "ss4d-1d-legs";
    double ssm_step_size = 0.1;
    int64_t decode_num_samples = 4;
    static void fields(auto& self, auto&& visit) {
      Transformer::Config::fields(self, visit);
      visit("ssm_tpl", self.ssm_tpl, "The state-space model.");
      visit("ssm_nheads", self.ssm_nheads, "Its states.");
      visit("ssm_dim", self.ssm_dim, "Its channels.");
      visit("ssm_l_max", self.ssm_l_max, "Longest input.");
      visit("ssm_hippo_type", self.ssm_hippo_type, "See SSM.");
      visit("ssm_step_size", self.ssm_step_size, "See SSM.");
      visit("decode_num_samples", self.decode_num_samples);
    }
  };
  SSMTransformer(const Config& config, const Scope& scope);
  using TransformerLayer::fprop;
  TransformerOutput fprop(const TransformerInputs& inputs) const override;

 protected:
  enum class FeedForwardLayer : uint8_t { kOwn, kNone };
  SSMTransformer(const Config& config, const Scope& scope, FeedForwardLayer ffn);
  /// What the layer's input goes through.
  Tensor before(Tensor x) const;
  /// Normalisation of the model's result, dropout, residual connection.
  Tensor after(Tensor residual, Tensor y) const;

  Child<SSM> ssm_;

 private:
  const NormPolicy policy_;
  Child<Layer> layer_norm_, pre_layer_norm_, post_layer_norm_, residual_dropout_;
  Child<StochasticResidual> residual_droppath_;
  Child<TransformerFfn> ff_layer_;
};
extern template const config::ConfigType& config::type_of<SSMTransformer::Config>();

/// A gated state-space layer (praxis ssm_transformers.SSMGated; Mehta et al. 2022).
class SSMGated final : public SSMTransformer {
 public:
  struct Config : SSMTransformer::Config {
    using Product = SSMGated;
    static constexpr std::string_view kName = "praxis.layers.SSMGated";
    static constexpr std::string_view kAliases[] = {"praxis.layers.ssm_transformers.SSMGated"};
    static constexpr std::string_view kDoc = "A gated state-space layer.";
    Tpl<Layer> gss_fflayer_tpl = FeedForward::Config{};
    static void fields(auto& self, auto&& visit) {
      SSMTransformer::Config::fields(self, visit);
      visit("gss_fflayer_tpl", self.gss_fflayer_tpl, "Each of its projections.");
    }
  };
  SSMGated(const Config& config, const Scope& scope);
  using SSMTransformer::fprop;
  TransformerOutput fprop(const TransformerInputs& inputs) const override;

 private:
  Child<Layer> gss_ffn_v_, gss_ffn_u_, gss_ffn_uc_, gss_ffn_uco_, gss_ffn_o_;
};
extern template const config::ConfigType& config::type_of<SSMGated::Config>();

}  // namespace pax
