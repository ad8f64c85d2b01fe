#pragma once

#include "pax/layers/convolutions/conv_bn_act.h"
#include "pax/layers/convolutions/poolings.h"
#include "pax/layers/stochastics.h"

namespace pax {

/// Convolutions with a residual connection around them: [B, H, W, input_dim] -> [B, H', W', output_dim].
class BaseResNetBlock : public Layer {
 public:
  using Interface = BaseResNetBlock;
  struct Config : LayerConfig {
    int64_t input_dim = 0;
    int64_t output_dim = 0;
    Tpl<Layer> conv_params = ConvBNAct::Config{};
    int64_t kernel_size = 3;
    int64_t stride = 1;
    Tpl<Layer> activation_tpl = ReLU::Config{};
    double residual_droppath_prob = 0.0;
    bool zero_init_residual = false;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("input_dim", self.input_dim, "Channels of the input.");
      visit("output_dim", self.output_dim, "Channels of the output.");
      visit("conv_params", self.conv_params, "Each convolution.");
      visit("kernel_size", self.kernel_size, "Height and width of the block's own filters.");
      visit("stride", self.stride, "Of the block.");
      visit("activation_tpl", self.activation_tpl, "Within the block and after it.");
      visit("residual_droppath_prob", self.residual_droppath_prob,
            {.doc = "Share of rows that leave the block out in training.", .min = 0.0, .max = 1.0});
      visit("zero_init_residual", self.zero_init_residual, "The block begins as its shortcut.");
    }
  };
  Tensor fprop(Tensor x) const override;

 protected:
  /// One convolution of the body.
  struct Filter {
    int64_t size, input_dim, output_dim, stride;
    bool activated = true;
    bool zero_init = false;
  };
  BaseResNetBlock(const Config& config, const Scope& scope, std::span<const Filter> body);

 private:
  Tpl<Layer> convolution(const Config& config, const Filter& filter) const;

  std::vector<Child<Layer>> body_;
  Child<Layer> shortcut_;  ///< empty where input and output have one shape
  Child<StochasticResidual> residual_droppath_;
  Child<Layer> postact_;
};

/// Three convolutions with a bottleneck of a quarter of the channels (praxis resnets.ResNetBlock; He et al. 2015).
class ResNetBlock final : public BaseResNetBlock {
 public:
  struct Config : BaseResNetBlock::Config {
    using Product = ResNetBlock;
    static constexpr std::string_view kName = "praxis.layers.ResNetBlock";
    static constexpr std::string_view kAliases[] = {"praxis.layers.resnets.ResNetBlock"};
    static constexpr std::string_view kDoc = "Residual block of three convolutions with a bottleneck.";
  };
  ResNetBlock(const Config& config, const Scope& scope);
};
extern template const config::ConfigType& config::type_of<ResNetBlock::Config>();

/// Two convolutions (praxis resnets.ResNetBasicBlock).
class ResNetBasicBlock final : public BaseResNetBlock {
 public:
  struct Config : BaseResNetBlock::Config {
    using Product = ResNetBasicBlock;
    static constexpr std::string_view kName = "praxis.layers.ResNetBasicBlock";
    static constexpr std::string_view kAliases[] = {"praxis.layers.resnets.ResNetBasicBlock"};
    static constexpr std::string_view kDoc = "Residual block of two convolutions.";
  };
  ResNetBasicBlock(const Config& config, const Scope& scope);
};
extern template const config::ConfigType& config::type_of<ResNetBasicBlock::Config>();

/// Residual network, ResNet-50 by default (praxis resnets.ResNet): [B, H, W, 3] -> [B, D], or [B, H', W', D] without
/// pooling.
class ResNet final : public Layer {
 public:
  struct Config : LayerConfig {
    using Product = ResNet;
    static constexpr std::string_view kName = "praxis.layers.ResNet";
    static constexpr std::string_view kAliases[] = {"praxis.layers.resnets.ResNet"};
    static constexpr std::string_view kDoc = "Residual network; ResNet-50 by default.";
    Tpl<Layer> conv_params = default_convolution();
    Tpl<BaseResNetBlock> block_params = ResNetBlock::Config{};
    std::vector<int64_t> strides{1, 2, 2, 2};
    std::vector<int64_t> channels{256, 512, 1024, 2048};
    std::vector<int64_t> blocks{3, 4, 6, 3};
    std::vector<int64_t> kernels{3, 3, 3, 3};
    std::array<int64_t, 3> entryflow_conv_kernel{7, 7, 3};
    std::array<int64_t, 2> entryflow_conv_stride{2, 2};
    Tpl<Layer> output_spatial_pooling_params = default_pooling();
    bool return_block_features = false;
    bool entry_max_pool = true;
    static void fields(auto& self, auto&& visit) {
      LayerConfig::fields(self, visit);
      visit("conv_params", self.conv_params, "Each convolution.");
      visit("block_params", self.block_params, "Each block.");
      visit("strides", self.strides, "Of the first block of each stage.");
      visit("channels", self.channels, "Of each stage.");
      visit("blocks", self.blocks, "In each stage.");
      visit("kernels", self.kernels, "Sizes of the filters of each stage.");
      visit("entryflow_conv_kernel", self.entryflow_conv_kernel,
            "Height, width and input channels of the first filter.");
      visit("entryflow_conv_stride", self.entryflow_conv_stride, "Of the first convolution.");
      visit("output_spatial_pooling_params", self.output_spatial_pooling_params, "Pooling at the end; null: none.");
      visit("return_block_features", self.return_block_features, "`features` are asked for, not `fprop`.");
      visit("entry_max_pool", self.entry_max_pool, "Pooling after the first convolution.");
    }
    static Tpl<Layer> default_convolution();
    static Tpl<Layer> default_pooling();

    /// Common sizes: 5 (for tests), 18, 34, 50, 56, 83, 101, 152. Throws ConfigError for others.
    static Config of_depth(int64_t depth);
  };
  ResNet(const Config& config, const Scope& scope);
  Tensor fprop(Tensor x) const override;
  /// What each stage gives, [B, H', W', D] each.
  std::vector<Tensor> features(Tensor x) const;

 private:
  const bool entry_max_pool_;
  Child<Layer> entryflow_conv_, entryflow_maxpool_, output_spatial_pooling_;
  std::vector<std::vector<Child<BaseResNetBlock>>> stages_;
};
extern template const config::ConfigType& config::type_of<ResNet::Config>();

}  // namespace pax
