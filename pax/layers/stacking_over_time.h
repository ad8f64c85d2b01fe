#pragma once

#include "pax/layers/layer.h"

namespace pax {

/// How the paddings of a window become one.
enum class PaddingReduce : uint8_t { kReduceMin, kReduceMax };
std::span<const std::pair<PaddingReduce, std::string_view>> enum_names(PaddingReduce);

/// Puts the features of a window of steps side by side, every `stride` steps (praxis linears.StackingOverTime).
class StackingOverTime final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = StackingOverTime;
    static constexpr std::string_view kName = "praxis.layers.StackingOverTime";
    static constexpr std::string_view kAliases[] = {"praxis.layers.linears.StackingOverTime"};
    static constexpr std::string_view kDoc = "Puts the features of a window of steps side by side.";
    int64_t left_context = 0;
    int64_t right_context = 0;
    int64_t stride = 0;
    bool pad_with_left_frame = false;
    bool pad_with_right_frame = false;
    PaddingReduce padding_reduce_option = PaddingReduce::kReduceMin;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("left_context", self.left_context, {.doc = "Steps before the central one.", .min = 0});
      visit("right_context", self.right_context, {.doc = "Steps after it.", .min = 0});
      visit("stride", self.stride, "Steps from window to window: at least 1.");
      visit("pad_with_left_frame", self.pad_with_left_frame, "Repeats the first step before it, rather than zeros.");
      visit("pad_with_right_frame", self.pad_with_right_frame, "Repeats the last step after it, rather than zeros.");
      visit("padding_reduce_option", self.padding_reduce_option, "A window is padding if all of it is, or if any.");
    }
  };
  StackingOverTime(const Config& config, const Scope& scope);

  struct Stacked {
    Tensor outputs;   ///< [B, ceil(T / stride), window * D]
    Tensor paddings;  ///< [B, ceil(T / stride), 1]
  };
  /// `inputs` [B, T, D]; `paddings` [B, T, 1] or null (none is padding).
  Stacked stack(Tensor inputs, Tensor paddings) const;
  Tensor fprop(Tensor x) const override { return stack(x, {}).outputs; }
  /// The frames that went into `stacked` [B, S, window * D], in order: [B, (S - 1) stride + right_context + 1, D].
  /// Throws ShapeError when windows leave frames out.
  Tensor unstack(Tensor stacked) const;

 private:
  int64_t window() const { return config_.left_context + config_.right_context + 1; }
  bool trivial() const { return window() == 1 && config_.stride == 1; }
  Tensor windows(Tensor x, double pad_value) const;

  const Config config_;
};
extern template const config::ConfigType& config::type_of<StackingOverTime::Config>();

}  // namespace pax
