#pragma once

#include "pax/layers/linears.h"
#include "pax/layers/softmax/softmax.h"

namespace pax {

/// Projection to classes of which several may be right, and the sum of their binary cross-entropies
/// (praxis embedding_softmax.SigmoidCrossEntropy). `class_weights` may also be [..., V], one for each class.
class SigmoidCrossEntropy final : public Softmax {
 public:
  struct Config : LayerConfig {
    using Product = SigmoidCrossEntropy;
    static constexpr std::string_view kName = "praxis.layers.SigmoidCrossEntropy";
    static constexpr std::string_view kAliases[] = {"praxis.layers.embedding_softmax.SigmoidCrossEntropy"};
    static constexpr std::string_view kDoc = "Projection to classes of which several may be right.";
    int64_t input_dims = 0;
    int64_t num_classes = 0;
    std::optional<double> soft_cap_logits = 0.0;
    std::optional<double> bias_init = 0.0;
    Tpl<Layer> feed_forward_tpl = FeedForward::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dims", self.input_dims, "Depth of the input.");
      visit("num_classes", self.num_classes, "Number of classes.");
      visit("soft_cap_logits", self.soft_cap_logits, "Logits are held within this by tanh; 0 or null: not.");
      visit("bias_init", self.bias_init, "First value of the bias.");
      visit("feed_forward_tpl", self.feed_forward_tpl, "The projection; null: the input is the logits.");
    }
  };
  SigmoidCrossEntropy(const Config& config, const Scope& scope);

  Tensor get_logits(Tensor inputs) const override;
  Tensor logits_to_logp(Tensor logits) const override;
  using Softmax::fprop;
  SoftmaxOutput fprop(const SoftmaxInputs& in) const override;

 private:
  const Config config_;
  Child<Layer> logits_ffn_;
};
extern template const config::ConfigType& config::type_of<SigmoidCrossEntropy::Config>();

}  // namespace pax
