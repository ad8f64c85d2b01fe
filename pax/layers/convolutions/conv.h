#pragma once

#include <array>

#include "pax/layers/normalizations.h"

namespace pax {

enum class ConvPadding : uint8_t { kSame, kValid };
std::span<const std::pair<ConvPadding, std::string_view>> enum_names(ConvPadding);

/// How a kernel is laid over its input: one entry a spatial dimension.
struct ConvGeometry {
  std::span<const int64_t> kernel, strides, dilations;
  ConvPadding padding = ConvPadding::kSame;
  /// SAME by TensorFlow's rule, which looks at the stride; else (k - 1) / 2 before and k / 2 after whatever the stride.
  bool tf_equivalent_padding = false;
  bool is_causal = false;  ///< the first dimension is time, and sees nothing after it
};

/// Throws ConfigError naming `path` when the options do not go together.
void check_geometry(const ConvGeometry& geometry, std::string_view path);

/// Channels-last convolution: [B, spatial..., I] with [kernel..., I / groups, O] -> [B, spatial'..., O]. The groups
/// follow from the shapes. Throws ShapeError when they do not divide.
Tensor convolve(Tensor x, Tensor kernel, const ConvGeometry& geometry);

/// `x` with zeros where `paddings` (0 or 1, broadcasting) is 1.
Tensor apply_padding(Tensor x, Tensor paddings);

/// 2-D convolution, channels last: [B, H, W, I] -> [B, H', W', O] (praxis convolutions.Conv2D). Fewer input channels in
/// the filter than in the input make it grouped, 1 depthwise.
class Conv2D : public Layer {
 public:
  using Interface = Conv2D;
  struct Config : LayerConfig {
    using Product = Conv2D;
    static constexpr std::string_view kName = "praxis.layers.Conv2D";
    static constexpr std::string_view kAliases[] = {"praxis.layers.convolutions.Conv2D"};
    static constexpr std::string_view kDoc = "2-D convolution.";
    std::array<int64_t, 4> filter_shape{0, 0, 0, 0};
    std::array<int64_t, 2> filter_stride{0, 0};
    std::array<int64_t, 2> dilations{1, 1};
    bool bias = false;
    WeightInit bias_init = WeightInit::constant(0.0);
    std::optional<WeightInit> kernel_init;
    ConvPadding padding = ConvPadding::kSame;
    bool tf_equivalent_padding = false;
    bool is_causal = false;
    Tpl<BaseNormalization> weight_norm_tpl = IdentityNorm::Config{};
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("filter_shape", self.filter_shape, "Height (time), width, input channels, output channels.");
      visit("filter_stride", self.filter_stride, "Of height and width: at least 1.");
      visit("dilations", self.dilations, "Distance of the filter's elements in height and width.");
      visit("bias", self.bias, "Whether there is a bias.");
      visit("bias_init", self.bias_init, "How the bias begins.");
      visit("kernel_init", self.kernel_init, "How the filter begins; null: params_init.");
      visit("padding", self.padding, "SAME or VALID.");
      visit("tf_equivalent_padding", self.tf_equivalent_padding, "SAME as TensorFlow means it with strides.");
      visit("is_causal", self.is_causal, "Height is time, and no output sees later inputs.");
      visit("weight_norm_tpl", self.weight_norm_tpl, "What is done to the filter.");
    }
  };
  Conv2D(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override { return convolved(x); }

 protected:
  const Config& conv_config() const { return config_; }
  Tensor convolved(Tensor x) const;

 private:
  const Config config_;
  Tensor w_, b_;  ///< [height, width, I, O]; [O] or null
  Child<BaseNormalization> weight_norm_;
};
extern template const config::ConfigType& config::type_of<Conv2D::Config>();

/// 3-D convolution, channels last: [B, T, H, W, I] -> [B, T', H', W', O] (praxis convolutions.Conv3D).
class Conv3D final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Conv3D;
    static constexpr std::string_view kName = "praxis.layers.Conv3D";
    static constexpr std::string_view kAliases[] = {"praxis.layers.convolutions.Conv3D"};
    static constexpr std::string_view kDoc = "3-D convolution.";
    std::array<int64_t, 5> filter_shape{0, 0, 0, 0, 0};
    std::array<int64_t, 3> filter_stride{0, 0, 0};
    std::array<int64_t, 3> dilations{1, 1, 1};
    bool bias = false;
    WeightInit bias_init = WeightInit::constant(0.0);
    std::optional<WeightInit> kernel_init;
    ConvPadding padding = ConvPadding::kSame;
    bool tf_equivalent_padding = false;
    bool is_causal = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("filter_shape", self.filter_shape, "Time, height, width, input channels, output channels.");
      visit("filter_stride", self.filter_stride, "Of time, height and width: at least 1.");
      visit("dilations", self.dilations, "Distance of the filter's elements in time, height and width.");
      visit("bias", self.bias, "Whether there is a bias.");
      visit("bias_init", self.bias_init, "How the bias begins.");
      visit("kernel_init", self.kernel_init, "How the filter begins; null: params_init.");
      visit("padding", self.padding, "SAME or VALID.");
      visit("tf_equivalent_padding", self.tf_equivalent_padding, "SAME as TensorFlow means it with strides.");
      visit("is_causal", self.is_causal, "No output sees later inputs.");
    }
  };
  Conv3D(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const Config config_;
  Tensor w_, b_;
};
extern template const config::ConfigType& config::type_of<Conv3D::Config>();

}  // namespace pax
