#include "pax/layers/convolutions/conv.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/ops/convert.h"
#include "pax/ops/convolution.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"
#include "pax/ops/window.h"

namespace pax {
namespace {

std::pair<int64_t, int64_t> padding_of(const ConvGeometry& geometry, size_t i, int64_t size) {
  const int64_t kernel = geometry.kernel[i], stride = geometry.strides[i], dilation = geometry.dilations[i];
  if (geometry.padding == ConvPadding::kValid) return {0, 0};
  const int64_t total = dilation * (kernel - 1);
  if (geometry.is_causal && i == 0) return {total, 0};
  if (geometry.tf_equivalent_padding && !geometry.is_causal) return same_padding(size, kernel, stride, dilation);
  return {total / 2, total - total / 2};
}

template <class Config>
ConvGeometry geometry_of(const Config& config) {
  return {.kernel = std::span(config.filter_shape).first(config.filter_stride.size()),
          .strides = config.filter_stride,
          .dilations = config.dilations,
          .padding = config.padding,
          .tf_equivalent_padding = config.tf_equivalent_padding,
          .is_causal = config.is_causal};
}

}  // namespace

std::span<const std::pair<ConvPadding, std::string_view>> enum_names(ConvPadding) {
  static constexpr std::pair<ConvPadding, std::string_view> kNames[] = {{ConvPadding::kSame, "SAME"},
                                                                        {ConvPadding::kValid, "VALID"}};
  return kNames;
}

void check_geometry(const ConvGeometry& geometry, std::string_view path) {
  for (const int64_t stride : geometry.strides) {
    if (stride < 1) fail<ConfigError>("{}: a filter_stride is {}; each must be at least 1", path, stride);
  }
  for (const int64_t dilation : geometry.dilations) {
    if (dilation < 1) fail<ConfigError>("{}: a dilation is {}; each must be at least 1", path, dilation);
  }
  if (geometry.is_causal && !geometry.tf_equivalent_padding) {
    fail<ConfigError>("{}: is_causal is true but tf_equivalent_padding is false; causal convolutions need both", path);
  }
  if (geometry.is_causal && geometry.padding == ConvPadding::kValid) {
    fail<ConfigError>("{}: is_causal is true but padding is VALID; causal convolutions need SAME", path);
  }
}

Tensor convolve(Tensor x, Tensor kernel, const ConvGeometry& geometry) {
  const auto spatial = static_cast<int64_t>(geometry.kernel.size());
  const auto refuse = [&](std::string_view why) {
    fail_op(x.graph(), "convolution",
            fmt::format("input {}, filter {}: {}", to_string(x.type()), to_string(kernel.type()), why));
  };
  if (x.rank() != spatial + 2) refuse(fmt::format("the input must have {} dimensions", spatial + 2));
  const int64_t in = x.dim(-1), filter_in = kernel.dim(-2), out = kernel.dim(-1);
  if (filter_in < 1 || in % filter_in != 0) refuse("the input's channels must be a multiple of the filter's");
  const int64_t groups = in / filter_in;
  if (out % groups != 0)
    refuse(fmt::format("output channels must divide into the {} groups of input channels", groups));

  ConvOptions options{.dims = channels_last(spatial), .feature_groups = groups};
  for (size_t i = 0; i < geometry.kernel.size(); ++i) {
    options.strides.push_back(geometry.strides[i]);
    options.kernel_dilation.push_back(geometry.dilations[i]);
    options.padding.push_back(padding_of(geometry, i, x.dim(static_cast<int64_t>(i) + 1)));
  }
  return convolution(x, kernel, std::move(options));
}

Tensor apply_padding(Tensor x, Tensor paddings) { return select(gt(paddings, 0.0), 0.0, x); }

Conv2D::Conv2D(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  check_geometry(geometry_of(config), scope.path());
  const std::span<const int64_t> shape = config.filter_shape;
  w_ = param("w", {.shape = Shape(shape), .init = config.kernel_init, .split = weight_split("wt")});
  if (config.bias) b_ = param("b", {.shape = {shape.back()}, .init = config.bias_init});
  Tpl<BaseNormalization> weight_norm = config.weight_norm_tpl.clone();
  weight_norm.set("dim", shape.back());
  weight_norm_ = child("weight_norm", weight_norm);
}

Tensor Conv2D::convolved(Tensor x) const {
  const Tensor in = shard(convert(x, fprop_dtype()), "out");
  const Tensor w = weight_norm_->fprop(w_);
  const Tensor y = shard(convolve(in, w, geometry_of(config_)), "out");
  return b_ ? y + b_ : y;
}

Conv3D::Conv3D(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  check_geometry(geometry_of(config), scope.path());
  const std::span<const int64_t> shape = config.filter_shape;
  w_ = param("w", {.shape = Shape(shape), .init = config.kernel_init, .split = weight_split("wt")});
  if (config.bias) b_ = param("b", {.shape = {shape.back()}, .init = config.bias_init});
}

Tensor Conv3D::fprop(Tensor x) const {
  const Tensor y = convolve(convert(x, fprop_dtype()), w_, geometry_of(config_));
  return b_ ? y + b_ : y;
}

template const config::ConfigType& config::type_of<Conv2D::Config>();
template const config::ConfigType& config::type_of<Conv3D::Config>();

}  // namespace pax
