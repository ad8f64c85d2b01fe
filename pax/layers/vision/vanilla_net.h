#pragma once

#include "pax/layers/convolutions/conv.h"
#include "pax/layers/convolutions/poolings.h"

namespace pax {

/// Three convolutions with a bottleneck of a quarter of the channels, each followed by a leaky ReLU that keeps the
/// variance (praxis vanillanets.VanillaBlock): [B, H, W, input_dim] -> [B, H', W', output_dim].
class VanillaBlock final : public Layer {
 public:
  using Interface = VanillaBlock;
  struct Config : LayerConfig {
    using Product = VanillaBlock;
    static constexpr std::string_view kName = "praxis.layers.VanillaBlock";
    static constexpr std::string_view kAliases[] = {"praxis.layers.vanillanets.VanillaBlock"};
    static constexpr std::string_view kDoc = "Three convolutions without residual connection or normalisation.";
    int64_t input_dim = 0;
    int64_t output_dim = 0;
    Tpl<Layer> conv_params = default_convolution();
    int64_t kernel_size = 3;
    int64_t stride = 1;
    double negative_slope = 0.4;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dim", self.input_dim, "Channels of the input.");
      visit("output_dim", self.output_dim, "Channels of the output.");
      visit("conv_params", self.conv_params, "Each convolution.");
      visit("kernel_size", self.kernel_size, "Height and width of the middle filter.");
      visit("stride", self.stride, "Of the middle filter.");
      visit("negative_slope", self.negative_slope, "Of the leaky ReLU.");
    }
    static Tpl<Layer> default_convolution();
  };
  VanillaBlock(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const double negative_slope_;
  std::vector<Child<Layer>> body_;
};
extern template const config::ConfigType& config::type_of<VanillaBlock::Config>();

/// A deep convolutional network without residual connections or normalisation (praxis vanillanets.VanillaNet; Zhang et
/// al. 2022): [B, H, W, 3] -> [B, D], or [B, H', W', D] without pooling.
class VanillaNet final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = VanillaNet;
    static constexpr std::string_view kName = "praxis.layers.VanillaNet";
    static constexpr std::string_view kAliases[] = {"praxis.layers.vanillanets.VanillaNet"};
    static constexpr std::string_view kDoc = "Convolutional network without residual connections.";
    Tpl<Layer> conv_params = VanillaBlock::Config::default_convolution();
    Tpl<VanillaBlock> block_params = VanillaBlock::Config{};
    std::vector<int64_t> strides{1, 2, 2, 2};
    std::vector<int64_t> channels{256, 512, 1024, 2048};
    std::vector<int64_t> blocks{3, 4, 6, 3};
    std::vector<int64_t> kernels{3, 3, 3, 3};
    std::array<int64_t, 2> entryflow_conv_kernel{7, 7};
    std::array<int64_t, 2> entryflow_conv_stride{2, 2};
    Tpl<Layer> output_spatial_pooling_params = GlobalPooling::Config{};
    double negative_slope = 0.4;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("conv_params", self.conv_params, "Each convolution.");
      visit("block_params", self.block_params, "Each block.");
      visit("strides", self.strides, "Of the first block of each stage.");
      visit("channels", self.channels, "Of each stage.");
      visit("blocks", self.blocks, "In each stage.");
      visit("kernels", self.kernels, "Sizes of the filters of each stage.");
      visit("entryflow_conv_kernel", self.entryflow_conv_kernel, "Height and width of the first filter.");
      visit("entryflow_conv_stride", self.entryflow_conv_stride, "Of the first convolution.");
      visit("output_spatial_pooling_params", self.output_spatial_pooling_params, "Pooling at the end; null: none.");
      visit("negative_slope", self.negative_slope, "Of the leaky ReLU.");
    }
  };
  VanillaNet(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;

 private:
  const double negative_slope_;
  Child<Layer> entryflow_conv_, entryflow_maxpool_, output_spatial_pooling_;
  std::vector<Child<VanillaBlock>> blocks_;
};
extern template const config::ConfigType& config::type_of<VanillaNet::Config>();

}  // namespace pax
