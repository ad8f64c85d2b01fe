#pragma once

#include "pax/layers/linears.h"
#include "pax/layers/softmax/softmax.h"

namespace pax {

/// Shared embedding and softmax as GShard has it: one table [V, D] drawn from N(0, 1), inputs scaled by 1 / sqrt(D), no
/// bias, smoothing over all classes in training only, and by default a mean over all labels, padding included
/// (praxis embedding_softmax.GShardSharedEmbeddingSoftmax).
class GShardSharedEmbeddingSoftmax final : public Softmax {
 public:
  struct Config : LayerConfig {
    using Product = GShardSharedEmbeddingSoftmax;
    static constexpr std::string_view kName = "praxis.layers.GShardSharedEmbeddingSoftmax";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.GShardSharedEmbeddingSoftmax"};
    static constexpr std::string_view kDoc = "Shared embedding and softmax as GShard has it.";
    int64_t input_dims = 0;
    int64_t num_classes = 0;
    bool use_tgt_labels_size_as_loss_denominator = true;
    std::optional<double> soft_cap_logits = 0.0;
    std::optional<double> logits_abs_max = 0.0;
    double z_loss_weight = 0.0;
    double label_smoothing_prob = 0.0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Depth of the input, and of embeddings.");
      visit("num_classes", self.num_classes, "Number of classes; size of the vocabulary.");
      visit("use_tgt_labels_size_as_loss_denominator", self.use_tgt_labels_size_as_loss_denominator,
            "avg_xent is a mean over all labels, else over the weights.");
      visit("soft_cap_logits", self.soft_cap_logits, "Logits are held within this by tanh; 0 or null: not.");
      visit("logits_abs_max", self.logits_abs_max, "Logits are cut off at this; 0 or null: not.");
      visit("z_loss_weight", self.z_loss_weight, "Weight of the auxiliary loss logsumexp(logits)^2.");
      visit("label_smoothing_prob", self.label_smoothing_prob, "Probability shared by all classes.");
    }
  };
  GShardSharedEmbeddingSoftmax(const Config& config, const Scope& scope);

  Tensor get_logits(Tensor inputs) const override;
  using Softmax::fprop;
  SoftmaxOutput fprop(const SoftmaxInputs& in) const override;
  Tensor emb_lookup(Tensor ids) const override;

 private:
  const Config config_;
  Child<Linear> embedding_;
};
extern template const config::ConfigType& config::type_of<GShardSharedEmbeddingSoftmax::Config>();

}  // namespace pax
