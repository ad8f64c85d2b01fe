#pragma once

#include <array>

#include "pax/layers/convolutions/conv.h"
#include "pax/ops/window.h"

namespace pax {

enum class PoolingType : uint8_t { kMax, kAvg };
std::span<const std::pair<PoolingType, std::string_view>> enum_names(PoolingType);

struct Pooled {
  Tensor outputs;
  Tensor paddings;  ///< null when none were given
};

/// Largest value or mean of each window: [B, H, W, D] -> [B, H', W', D] (praxis poolings.Pooling). Padding counts for
/// nothing.
class Pooling final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Pooling;
    static constexpr std::string_view kName = "praxis.layers.Pooling";
    static constexpr std::string_view kAliases[] = {"praxis.layers.poolings.Pooling"};
    static constexpr std::string_view kDoc = "Largest value or mean of each window of an image.";
    std::array<int64_t, 2> window_shape{0, 0};
    std::array<int64_t, 2> window_stride{0, 0};
    PoolingType pooling_type = PoolingType::kMax;
    ConvPadding padding = ConvPadding::kSame;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("window_shape", self.window_shape, "Height and width: at least 1.");
      visit("window_stride", self.window_stride, "Of height and width: at least 1.");
      visit("pooling_type", self.pooling_type, "MAX or AVG.");
      visit("padding", self.padding, "SAME or VALID.");
    }
  };
  Pooling(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override { return pool(x, {}).outputs; }
  /// `paddings` [B, H] or null.
  Pooled pool(Tensor x, Tensor paddings) const;

 private:
  /// Of the dimensions of `x` from `first` on, as many as there are window sizes left.
  Window window(Tensor x, int64_t first, size_t count) const;
  Tensor average(Tensor x, Tensor paddings) const;

  const Config config_;
};
extern template const config::ConfigType& config::type_of<Pooling::Config>();

/// Largest value or mean over whole dimensions (praxis poolings.GlobalPooling).
class GlobalPooling final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = GlobalPooling;
    static constexpr std::string_view kName = "praxis.layers.GlobalPooling";
    static constexpr std::string_view kAliases[] = {"praxis.layers.poolings.GlobalPooling"};
    static constexpr std::string_view kDoc = "Largest value or mean over whole dimensions.";
    PoolingType pooling_type = PoolingType::kAvg;
    std::optional<std::vector<int64_t>> pooling_dims;
    bool keepdims = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("pooling_type", self.pooling_type, "MAX or AVG.");
      visit("pooling_dims", self.pooling_dims, {.doc = "Dimensions to pool over: must be said.", .min = 0});
      visit("keepdims", self.keepdims, "They stay, with size 1.");
    }
  };
  GlobalPooling(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override { return pool(x, {}); }
  /// `paddings` broadcasts with `x`, or null.
  Tensor pool(Tensor x, Tensor paddings) const;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<GlobalPooling::Config>();

/// Largest value or mean of windows over time: [B, T, ...] -> [B, ceil(T / stride), ...] (praxis poolings.Pooling1D).
class Pooling1D final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = Pooling1D;
    static constexpr std::string_view kName = "praxis.layers.Pooling1D";
    static constexpr std::string_view kAliases[] = {"praxis.layers.poolings.Pooling1D"};
    static constexpr std::string_view kDoc = "Largest value or mean of windows over time.";
    int64_t stride = 1;
    int64_t window = 0;
    PoolingType pooling_type = PoolingType::kAvg;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("stride", self.stride, {.doc = "Steps from window to window.", .min = 1});
      visit("window", self.window, {.doc = "Steps of a window; 0: as the stride.", .min = 0});
      visit("pooling_type", self.pooling_type, "MAX or AVG.");
    }
  };
  Pooling1D(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override { return pool(x, {}).outputs; }
  /// `paddings` [B, T] or null.
  Pooled pool(Tensor x, Tensor paddings) const;

 private:
  const PoolingType type_;
  const int64_t stride_, window_;
};
extern template const config::ConfigType& config::type_of<Pooling1D::Config>();

}  // namespace pax
