#include "pax/layers/vision/resnet.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/elementwise.h"

namespace pax {

Tpl<Layer> BaseResNetBlock::convolution(const Config& config, const Filter& filter) const {
  Tpl<Layer> conv = config.conv_params.clone_unshared();
  conv.set("filter_shape", std::array<int64_t, 4>{filter.size, filter.size, filter.input_dim, filter.output_dim});
  conv.set("filter_stride", std::array<int64_t, 2>{filter.stride, filter.stride});
  if (filter.activated) {
    conv.set("activation_tpl", config.activation_tpl.clone_unshared());
  } else {
    conv.set("activation_tpl", Identity::Config{});
  }
  if (!filter.zero_init) return conv;
  if (!conv.has_field("batch_norm_tpl.gamma_init")) {
    pax::fail<ConfigError>("{}: zero_init_residual is true but conv_params has no batch_norm_tpl with gamma_init",
                           scope().path());
  }
  conv.set("batch_norm_tpl.gamma_init", WeightInit::constant(-1.0));  // the norm multiplies by 1 + gamma
  return conv;
}

BaseResNetBlock::BaseResNetBlock(const Config& config, const Scope& scope, std::span<const Filter> body)
    : Layer(config, scope) {
  for (const Filter& filter : body) {
    body_.push_back(child(fmt::format("body_{}", body_.size()), convolution(config, filter)));
  }
  if (config.input_dim != config.output_dim || config.stride != 1) {
    shortcut_ = child("shortcut", convolution(config, {.size = 1,
                                                       .input_dim = config.input_dim,
                                                       .output_dim = config.output_dim,
                                                       .stride = config.stride,
                                                       .activated = false}));
  }
  if (config.residual_droppath_prob > 0) {
    StochasticResidual::Config droppath;
    droppath.survival_prob = 1.0 - config.residual_droppath_prob;
    residual_droppath_ = child("residual_droppath", droppath);
  }
  postact_ = child("postact", config.activation_tpl.clone_unshared());
}

Tensor BaseResNetBlock::fprop(Tensor x) const {
  Tensor y = x;
  for (const Child<Layer>& conv : body_) y = conv->fprop(y);
  if (shortcut_) x = shortcut_->fprop(x);
  if (residual_droppath_) {
    y = residual_droppath_->fprop(x, y);
  } else {
    y = y + x;
  }
  return postact_->fprop(y);
}

ResNetBlock::ResNetBlock(const Config& config, const Scope& scope)
    : BaseResNetBlock(config, scope,
                      std::array{BaseResNetBlock::Filter{1, config.input_dim, config.output_dim / 4, 1},
                                 BaseResNetBlock::Filter{config.kernel_size, config.output_dim / 4,
                                                         config.output_dim / 4, config.stride},
                                 BaseResNetBlock::Filter{1, config.output_dim / 4, config.output_dim, 1, false,
                                                         config.zero_init_residual}}) {}

ResNetBasicBlock::ResNetBasicBlock(const Config& config, const Scope& scope)
    : BaseResNetBlock(
          config, scope,
          std::array{BaseResNetBlock::Filter{config.kernel_size, config.input_dim, config.output_dim, config.stride},
                     BaseResNetBlock::Filter{config.kernel_size, config.output_dim, config.output_dim, 1, false}}) {}

Tpl<Layer> ResNet::Config::default_convolution() {
  BatchNorm::Config norm;
  norm.decay = 0.9;
  ConvBNAct::Config conv;
  conv.batch_norm_tpl = norm;
  conv.params_init = WeightInit{InitMethod::kGaussianSqrtFanOut, 1.4141};
  return conv;
}

Tpl<Layer> ResNet::Config::default_pooling() {
  GlobalPooling::Config pooling;
  pooling.pooling_dims = {1, 2};
  return pooling;
}

ResNet::Config ResNet::Config::of_depth(int64_t depth) {
  Config config;
  switch (depth) {
    case 5:
      config.strides = config.blocks = config.kernels = {1};
      config.channels = {16};
      return config;
    case 18:
    case 34:
      config.channels = {64, 128, 256, 512};
      config.block_params = ResNetBasicBlock::Config{};
      config.blocks = depth == 18 ? std::vector<int64_t>{2, 2, 2, 2} : std::vector<int64_t>{3, 4, 6, 3};
      return config;
    case 50:
      return config;
    case 56:
      config.blocks = {3, 3, 9, 3};
      return config;
    case 83:
      config.blocks = {3, 3, 18, 3};
      return config;
    case 101:
      config.blocks = {3, 4, 23, 3};
      return config;
    case 152:
      config.blocks = {3, 8, 36, 3};
      return config;
    default:
      pax::fail<ConfigError>("no ResNet of depth {} is known; there are 5, 18, 34, 50, 56, 83, 101 and 152", depth);
  }
}

ResNet::ResNet(const Config& config, const Scope& scope)
    : Layer(config, scope), entry_max_pool_(config.entry_max_pool) {
  const size_t stages = config.strides.size();
  if (config.channels.size() != stages || config.blocks.size() != stages || config.kernels.size() != stages ||
      stages == 0) {
    pax::fail<ConfigError>(
        "{}: there are {} strides, {} channels, {} blocks and {} kernels; each stage needs one of each", scope.path(),
        stages, config.channels.size(), config.blocks.size(), config.kernels.size());
  }
  const bool bottleneck = config.block_params.as<ResNetBlock::Config>() != nullptr;
  int64_t input_dim = config.channels[0] / (bottleneck ? 4 : 1);

  Tpl<Layer> entry = config.conv_params.clone_unshared();
  const auto [height, width, image_channels] = config.entryflow_conv_kernel;
  entry.set("filter_shape", std::array<int64_t, 4>{height, width, image_channels, input_dim});
  entry.set("filter_stride", config.entryflow_conv_stride);
  entryflow_conv_ = child("entryflow_conv", entry);
  Pooling::Config pooling;
  pooling.window_shape = {3, 3};
  pooling.window_stride = {2, 2};
  entryflow_maxpool_ = child("entryflow_maxpool", Tpl<Layer>(pooling));

  for (size_t stage = 0; stage < stages; ++stage) {
    stages_.emplace_back();
    for (int64_t i = 0; i < config.blocks[stage]; ++i) {
      Tpl<BaseResNetBlock> block = config.block_params.clone_unshared();
      block.try_set("conv_params", config.conv_params.clone_unshared());
      block.set("kernel_size", config.kernels[stage]);
      block.set("input_dim", input_dim);
      block.set("output_dim", config.channels[stage]);
      block.set("stride", i == 0 ? config.strides[stage] : int64_t{1});
      stages_.back().push_back(child(fmt::format("stage_{}_block_{}", stage, i), block));
      input_dim = config.channels[stage];
    }
  }
  if (config.output_spatial_pooling_params) {
    output_spatial_pooling_ = child("output_spatial_pooling", config.output_spatial_pooling_params);
  }
}

std::vector<Tensor> ResNet::features(Tensor x) const {
  x = entryflow_conv_->fprop(x);
  if (entry_max_pool_) x = entryflow_maxpool_->fprop(x);
  std::vector<Tensor> features;
  for (const auto& stage : stages_) {
    for (const Child<BaseResNetBlock>& block : stage) x = block->fprop(x);
    features.push_back(x);
  }
  return features;
}

Tensor ResNet::fprop(Tensor x) const {
  const Tensor y = features(x).back();
  return output_spatial_pooling_ ? output_spatial_pooling_->fprop(y) : y;
}

template const config::ConfigType& config::type_of<ResNetBlock::Config>();
template const config::ConfigType& config::type_of<ResNetBasicBlock::Config>();
template const config::ConfigType& config::type_of<ResNet::Config>();

}  // namespace pax
