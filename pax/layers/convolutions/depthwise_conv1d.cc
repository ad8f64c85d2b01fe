#include "pax/layers/convolutions/depthwise_conv1d.h"

#include "pax/layers/convolutions/conv.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"

namespace pax {

DepthwiseConv1D::DepthwiseConv1D(const Config& config, const Scope& scope)
    : BaseDepthwiseConv1D(config, scope), config_(config) {
  const auto [width, channels, multiplier] = config.filter_shape;
  ParamSpec spec{.shape = {width, 1, channels * multiplier}, .split = weight_split("him")};
  if (config.use_2d_conv_weight_shape) {
    spec.shape.push_back(1);
    if (!spec.split.empty()) spec.split.emplace(spec.split.begin() + 1);
  }
  w_ = param("w", std::move(spec));
  if (config.bias) b_ = param("b", {.shape = {channels * multiplier}, .init = config.bias_init});
}

Tensor DepthwiseConv1D::fprop(Tensor x, Tensor paddings) const {
  if (paddings) x = apply_padding(x, expand_dims(paddings, -1));
  const int64_t stride = 1;
  const ConvGeometry geometry{.kernel = std::span(config_.filter_shape).first(1),
                              .strides = std::span(&stride, 1),
                              .dilations = std::span(&config_.rhs_dilation_rate, 1),
                              .tf_equivalent_padding = true,
                              .is_causal = config_.is_causal};
  const Tensor w = config_.use_2d_conv_weight_shape ? shard(squeeze(w_, {-1}), "him") : w_;
  const Tensor y = convolve(convert(x, fprop_dtype()), w, geometry);
  return b_ ? y + b_ : y;
}

template const config::ConfigType& config::type_of<DepthwiseConv1D::Config>();

}  // namespace pax
