#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// The bi-tempered logistic loss: a bounded loss below temperature t1 = 1 over a softmax with a heavy tail above t2 = 1
/// (praxis losses.BiTemperedLoss; Amid et al. 2019). Training moves the temperatures from 1 to (t1, t2) over
/// [start_step, end_step], counting its own steps: with end_step = 0 they are (1, 1) at step 0 and (t1, t2) from then
/// on.
class BiTemperedLoss : public Layer {
 public:
  using Interface = BiTemperedLoss;
  struct Config : LayerConfig {
    using Product = BiTemperedLoss;
    static constexpr std::string_view kName = "praxis.layers.BiTemperedLoss";
    static constexpr std::string_view kAliases[] = {"praxis.layers.losses.BiTemperedLoss"};
    static constexpr std::string_view kDoc = "Bounded, heavy-tailed cross-entropy.";
    double t1 = 1.0;
    double t2 = 1.0;
    double label_smoothing = 0.0;
    int64_t start_step = 0;
    int64_t end_step = 0;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("t1", self.t1, "Temperature of the logarithm: below 1 the loss is bounded.");
      visit("t2", self.t2, "Temperature of the softmax: above 1 its tail is heavy.");
      visit("label_smoothing", self.label_smoothing, "Probability taken from the labels.");
      visit("start_step", self.start_step, "Step that begins to leave cross-entropy.");
      visit("end_step", self.end_step, "Step that reaches t1 and t2.");
    }
  };
  BiTemperedLoss(const Config& config, const Scope& scope);

  using Layer::fprop;
  /// Both [..., V], `labels` probabilities; gives [...]. The gradient goes to `logits` only.
  Tensor fprop(Tensor logits, Tensor labels) const;

 private:
  const Config config_;
  Tensor count_;  ///< f32 scalar, not trained
};
extern template const config::ConfigType& config::type_of<BiTemperedLoss::Config>();

/// The loss itself, at temperatures that are f32 scalars of the program.
struct Temperatures {
  Tensor t1, t2;
};
Tensor bi_tempered_logistic_loss(Tensor logits, Tensor labels, const Temperatures& t, double label_smoothing = 0.0);

}  // namespace pax
