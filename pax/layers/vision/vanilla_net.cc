#include "pax/layers/vision/vanilla_net.h"

#include <fmt/format.h>

#include <cmath>

#include "pax/base/error.h"
#include "pax/ops/activations.h"
#include "pax/ops/elementwise.h"

namespace pax {
namespace {

/// A leaky ReLU scaled so that a unit variance stays one.
Tensor tailored_leaky_relu(Tensor x, double slope) {
  return leaky_relu(x, slope) * std::sqrt(2.0 / (1 + slope * slope));
}

}  // namespace

Tpl<Layer> VanillaBlock::Config::default_convolution() {
  Conv2D::Config conv;
  conv.bias = true;
  conv.params_init = WeightInit{InitMethod::kDeltaOrthogonal, 1.0};
  return conv;
}

VanillaBlock::VanillaBlock(const Config& config, const Scope& scope)
    : Layer(config, scope), negative_slope_(config.negative_slope) {
  const int64_t narrow = config.output_dim / 4;
  const auto add = [&](int64_t size, int64_t from, int64_t to, int64_t stride) {
    Tpl<Layer> conv = config.conv_params.clone_unshared();
    conv.set("filter_shape", std::array<int64_t, 4>{size, size, from, to});
    conv.set("filter_stride", std::array<int64_t, 2>{stride, stride});
    body_.push_back(child(fmt::format("body_{}", body_.size()), conv));
  };
  add(1, config.input_dim, narrow, 1);
  add(config.kernel_size, narrow, narrow, config.stride);
  add(1, narrow, config.output_dim, 1);
}

Tensor VanillaBlock::fprop(Tensor x) const {
  for (const Child<Layer>& conv : body_) {
    const Tensor y = conv->fprop(x);
    x = tailored_leaky_relu(y, negative_slope_);
  }
  return x;
}

VanillaNet::VanillaNet(const Config& config, const Scope& scope)
    : Layer(config, scope), negative_slope_(config.negative_slope) {
  const size_t stages = config.strides.size();
  if (stages == 0 || config.channels.size() != stages || config.blocks.size() != stages ||
      config.kernels.size() != stages) {
    pax::fail<ConfigError>(
        "{}: there are {} strides, {} channels, {} blocks and {} kernels; each stage needs one of each", scope.path(),
        stages, config.channels.size(), config.blocks.size(), config.kernels.size());
  }
  int64_t input_dim = config.channels[0] / 4;
  Tpl<Layer> entry = config.conv_params.clone_unshared();
  const auto [height, width] = config.entryflow_conv_kernel;
  entry.set("filter_shape", std::array<int64_t, 4>{height, width, 3, input_dim});
  entry.set("filter_stride", config.entryflow_conv_stride);
  entryflow_conv_ = child("entryflow_conv", entry);
  Pooling::Config pooling;
  pooling.window_shape = {3, 3};
  pooling.window_stride = {2, 2};
  entryflow_maxpool_ = child("entryflow_maxpool", Tpl<Layer>(pooling));
  for (size_t stage = 0; stage < stages; ++stage) {
    for (int64_t i = 0; i < config.blocks[stage]; ++i) {
      Tpl<VanillaBlock> block = config.block_params.clone_unshared();
      block.set("conv_params", config.conv_params.clone_unshared());
      block.set("negative_slope", config.negative_slope);
      block.set("kernel_size", config.kernels[stage]);
      block.set("input_dim", input_dim);
      block.set("output_dim", config.channels[stage]);
      block.set("stride", i == 0 ? config.strides[stage] : int64_t{1});
      blocks_.push_back(child(fmt::format("stage_{}_block_{}", stage, i), block));
      input_dim = config.channels[stage];
    }
  }
  if (config.output_spatial_pooling_params) {
    output_spatial_pooling_ = child("output_spatial_pooling", config.output_spatial_pooling_params);
  }
}

Tensor VanillaNet::fprop(Tensor x) const {
  const Tensor y = entryflow_conv_->fprop(x);
  x = tailored_leaky_relu(y, negative_slope_);
  x = entryflow_maxpool_->fprop(x);
  for (const Child<VanillaBlock>& block : blocks_) x = block->fprop(x);
  return output_spatial_pooling_ ? output_spatial_pooling_->fprop(x) : x;
}

template const config::ConfigType& config::type_of<VanillaBlock::Config>();
template const config::ConfigType& config::type_of<VanillaNet::Config>();

}  // namespace pax
