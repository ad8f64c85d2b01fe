#pragma once

#include "pax/layers/base_ops.h"
#include "pax/layers/transformers/gating.h"
#include "pax/layers/transformers/transformer_feed_forward.h"

namespace pax {

/// What the gate looks at: each token, or the mean over its sentence.
enum class GatingLevel : uint8_t { kToken, kSentence };
/// "token", "sentence".
std::span<const std::pair<GatingLevel, std::string_view>> enum_names(GatingLevel);

/// Feed-forward layer of several experts of which each token visits one or two, with normalisation and residual
/// connection (praxis transformers.TransformerFeedForwardMoe; Lepikhin et al. 2020). Adds a load-balancing loss.
class TransformerFeedForwardMoe final : public TransformerFfn {
 public:
  struct Config : LayerConfig {
    using Product = TransformerFeedForwardMoe;
    static constexpr std::string_view kName = "praxis.layers.TransformerFeedForwardMoe";
    static constexpr std::string_view kAliases[] = {"praxis.layers.transformers.TransformerFeedForwardMoe"};
    static constexpr std::string_view kDoc = "Feed-forward layer of several experts.";
    int64_t input_dims = 0;
    int64_t hidden_dims = 0;
    bool apply_padding_first = false;
    Tpl<Layer> ln_tpl = LayerNorm::Config{};
    Tpl<Layer> activation_tpl = ReLU::Config{};
    Tpl<Layer> relu_dropout_tpl = Dropout::Config{};
    double relu_dropout_prob = 0.0;
    Tpl<Layer> residual_dropout_tpl = Dropout::Config{};
    double residual_dropout_prob = 0.0;
    bool add_skip_connection = true;
    double residual_weight = 1.0;
    NormPolicy norm_policy = NormPolicy::kPre;
    double residual_droppath_prob = 0.0;
    GatingFunc gating_func = GatingFunc::kTop2;
    int64_t num_experts = 0;
    int64_t num_groups = 0;
    std::optional<int64_t> min_group_size;
    int64_t expert_capacity_dim = 0;
    double unadjusted_expert_capacity_factor = 2.0;
    int64_t expert_weight_shards = 1;
    SecondExpertPolicy second_expert_policy = SecondExpertPolicy::kAll;
    bool internal_gshard_variance_scaling_fan_in_init = true;
    bool explicit_fan_in_fan_out_axes = false;
    double moe_load_balance_loss_weight = 1.0;
    double gating_logit_cap = 0.0;
    GatingLevel moe_gating_embedding_level = GatingLevel::kToken;
    bool use_gated_activation = false;
    Tpl<EinsumOp> einsum_tpl = EinsumOp::Config{};
    Tpl<EinsumGatedOp> einsum_gated_tpl = EinsumGatedOp::Config{};
    int64_t num_experts_per_token = 2;
    bool normalize_gates = true;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Model dimension.");
      visit("hidden_dims", self.hidden_dims, "Of each expert.");
      visit("apply_padding_first", self.apply_padding_first);
      visit("ln_tpl", self.ln_tpl);
      visit("activation_tpl", self.activation_tpl);
      visit("relu_dropout_tpl", self.relu_dropout_tpl);
      visit("relu_dropout_prob", self.relu_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("residual_dropout_tpl", self.residual_dropout_tpl);
      visit("residual_dropout_prob", self.residual_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("add_skip_connection", self.add_skip_connection);
      visit("residual_weight", self.residual_weight, "x + residual_weight * f(x).");
      visit("norm_policy", self.norm_policy);
      visit("residual_droppath_prob", self.residual_droppath_prob, {.doc = "", .min = 0, .max = 1});
      visit("gating_func", self.gating_func, "How tokens find experts.");
      visit("num_experts", self.num_experts, {.doc = "", .min = 0});
      visit("num_groups", self.num_groups, "Groups of tokens that are routed apart.");
      visit("min_group_size", self.min_group_size, "Fewer groups rather than smaller ones.");
      visit("expert_capacity_dim", self.expert_capacity_dim, "Tokens of a group that an expert takes, at least.");
      visit("unadjusted_expert_capacity_factor", self.unadjusted_expert_capacity_factor,
            "Places for tokens as a multiple of the tokens.");
      visit("expert_weight_shards", self.expert_weight_shards, {.doc = "", .min = 1, .max = 1});
      visit("second_expert_policy", self.second_expert_policy);
      visit("internal_gshard_variance_scaling_fan_in_init", self.internal_gshard_variance_scaling_fan_in_init);
      visit("explicit_fan_in_fan_out_axes", self.explicit_fan_in_fan_out_axes);
      visit("moe_load_balance_loss_weight", self.moe_load_balance_loss_weight);
      visit("gating_logit_cap", self.gating_logit_cap, "Gating logits stay within this by tanh; 0: no cap.");
      visit("moe_gating_embedding_level", self.moe_gating_embedding_level);
      visit("use_gated_activation", self.use_gated_activation);
      visit("einsum_tpl", self.einsum_tpl);
      visit("einsum_gated_tpl", self.einsum_gated_tpl);
      visit("num_experts_per_token", self.num_experts_per_token, {.doc = "Of dense_topk.", .min = 1});
      visit("normalize_gates", self.normalize_gates, "dense_topk: the gates of a token's experts sum to 1.");
    }
  };
  TransformerFeedForwardMoe(const Config& config, const Scope& scope);
  using TransformerFfn::fprop;
  Tensor fprop(const FeedForwardInputs& inputs) const override;

 private:
  struct Routed {
    Tensor y, aux_loss;
  };
  void check() const;
  void add_weights();
  Tensor gate_logits(const FeedForwardInputs& inputs, const Shape& grouped) const;
  Routed dispatch(const FeedForwardInputs& inputs) const;
  Routed dense_top2(const FeedForwardInputs& inputs) const;
  Routed dense_topk(const FeedForwardInputs& inputs) const;
  void add_router_statistics(Tensor probs_gse, Tensor chosen_gse, Tensor paddings_gs) const;
  /// What every expert makes of every token: [G, S, M] -> [E, G, S, M].
  Tensor all_experts(Tensor x_gsm) const;
  Tensor experts(Tensor x_egcm) const;

  const Config config_;
  Child<Layer> layer_norm_, pre_layer_norm_, post_layer_norm_, residual_dropout_, relu_dropout_, activation_;
  Child<StochasticResidual> residual_droppath_;
  Tensor gate_;          ///< [M, E]
  Tensor wi_, wi_gate_;  ///< [E, M, H]; the gate's may be null
  Tensor wo_;            ///< [E, H, M]
  Child<EinsumOp> dispatch_einsum_, ffn2_einsum_, combine_einsum_;
  Child<EinsumGatedOp> gated_ffn1_einsum_;
};
extern template const config::ConfigType& config::type_of<TransformerFeedForwardMoe::Config>();

}  // namespace pax
