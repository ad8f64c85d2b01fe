#pragma once

#include "pax/control/remat.h"
#include "pax/layers/layer.h"

namespace pax {

/// Runs one layer `x_times` times, each time with weights of its own, as one loop of the program (praxis
/// repeats.Repeat). The weights of all repetitions are stacked in front. The child is `sub`.
class Repeat final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Repeat;
    static constexpr std::string_view kName = "praxis.layers.Repeat";
    Tpl<Layer> sub_tpl;
    int64_t x_times = 0;
    AutodiffCheckpointType checkpoint_policy = AutodiffCheckpointType::kSaveNothing;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("sub_tpl", self.sub_tpl);
      visit("x_times", self.x_times, {.doc = "Number of repetitions.", .min = 0});
      visit("checkpoint_policy", self.checkpoint_policy);
    }
  };
  Repeat(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const int64_t x_times_;
  const std::shared_ptr<const RematPolicy> remat_;
  const int64_t loop_;
  Child<Layer> sub_;
};

}  // namespace pax
