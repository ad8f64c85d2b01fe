#pragma once

#include <array>
#include <variant>

#include "pax/control/remat.h"
#include "pax/layers/transformers/stack.h"
#include "pax/layers/transformers/transformer.h"
#include "pax/layers/transformers/transformer_feed_forward_moe.h"

namespace pax {

/// One template for all layers, or several that take turns: the first for the first layers, and so on.
using LayerTemplates = std::variant<Tpl<TransformerLayer>, std::vector<Tpl<TransformerLayer>>>;
/// Positions seen to the left and to the right.
using AttentionWindow = std::array<int64_t, 2>;
/// A window for all layers, or one (or none) for each.
using LocalWindows = std::optional<std::variant<AttentionWindow, std::vector<std::optional<AttentionWindow>>>>;

/// `num_layers` Transformer layers, each written out in the program (praxis transformers.StackedTransformer). Their
/// names are x_layers_0, x_layers_1, ….
class StackedTransformer final : public TransformerStack {
 public:
  struct Config : LayerConfig {
    using Product = StackedTransformer;
    static constexpr std::string_view kName = "praxis.layers.StackedTransformer";
    static constexpr std::string_view kAliases[] = {"praxis.layers.transformers.StackedTransformer"};
    static constexpr std::string_view kDoc = "Transformer layers, one after the other.";
    bool use_cross_attention = false;
    bool mask_self_attention = false;
    int64_t num_layers = 0;
    int64_t model_dims = 0;
    int64_t hidden_dims = 0;
    int64_t num_heads = 0;
    std::optional<int64_t> dim_per_head;
    double dropout_prob = 0.0;
    std::optional<double> atten_dropout_prob;
    std::optional<double> residual_dropout_prob;
    std::optional<double> relu_dropout_prob;
    double residual_droppath_prob = 0.0;
    double input_dropout_prob = 0.0;
    GatingFunc gating_func = GatingFunc::kTop2;
    double unadjusted_expert_capacity_factor = 2.0;
    LayerTemplates transformer_layer_params_tpl = Tpl<TransformerLayer>(Transformer::Config{});
    bool packed_input = false;
    bool fold_padding_with_segment_mask = false;
    Tpl<TransformerFfn> moe_layer_tpl = TransformerFeedForwardMoe::Config{};
    int64_t num_experts = 0;
    int64_t num_groups = 1;
    std::optional<int64_t> min_group_size;
    std::optional<std::vector<int64_t>> moe_layers = std::vector<int64_t>{};
    std::optional<std::vector<Tpl<Layer>>> ngrammer_tpls;
    bool remat = false;
    AutodiffCheckpointType checkpoint_policy = AutodiffCheckpointType::kSaveDotExceptLogitsFfn1;
    LocalWindows local_window_size;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("use_cross_attention", self.use_cross_attention);
      visit("mask_self_attention", self.mask_self_attention, "No position sees a later one.");
      visit("num_layers", self.num_layers, {.doc = "", .min = 0});
      visit("model_dims", self.model_dims);
      visit("hidden_dims", self.hidden_dims, "Of the feed-forward layers.");
      visit("num_heads", self.num_heads);
      visit("dim_per_head", self.dim_per_head, "model_dims / num_heads when unset.");
      visit("dropout_prob", self.dropout_prob, {.doc = "Where no other is set.", .min = 0, .max = 1});
      visit("atten_dropout_prob", self.atten_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("residual_dropout_prob", self.residual_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("relu_dropout_prob", self.relu_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("residual_droppath_prob", self.residual_droppath_prob, {.doc = "", .min = 0, .max = 1});
      visit("input_dropout_prob", self.input_dropout_prob, {.doc = "", .min = 0, .max = 1});
      visit("gating_func", self.gating_func);
      visit("unadjusted_expert_capacity_factor", self.unadjusted_expert_capacity_factor);
      visit("transformer_layer_params_tpl", self.transformer_layer_params_tpl);
      visit("packed_input", self.packed_input, "A row may hold several sequences.");
      visit("fold_padding_with_segment_mask", self.fold_padding_with_segment_mask);
      visit("moe_layer_tpl", self.moe_layer_tpl);
      visit("num_experts", self.num_experts);
      visit("num_groups", self.num_groups, "Groups of tokens that are routed apart.");
      visit("min_group_size", self.min_group_size);
      visit("moe_layers", self.moe_layers, "Layers with experts, from 0.");
      visit("ngrammer_tpls", self.ngrammer_tpls);
      visit("remat", self.remat, "Recompute layers in the backward pass.");
      visit("checkpoint_policy", self.checkpoint_policy, "What is kept when remat is on.");
      visit("local_window_size", self.local_window_size);
    }
  };
  StackedTransformer(const Config& config, const Scope& scope);
  using TransformerStack::fprop;
  Tensor fprop(const StackInputs& inputs) const override;
  Tensor extend_step(const StackStep& step) const override;

 private:
  void check() const;
  Tpl<TransformerLayer> layer_template(int64_t i) const;
  void set_experts(Tpl<TransformerLayer>& layer) const;

  const Config config_;
  std::vector<Child<TransformerLayer>> layers_;
  Child<Layer> input_dropout_;
};
extern template const config::ConfigType& config::type_of<StackedTransformer::Config>();

}  // namespace pax
