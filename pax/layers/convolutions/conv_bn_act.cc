#include "pax/layers/convolutions/conv_bn_act.h"

#include "pax/base/error.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/ops/window.h"

namespace pax {

ConvBNAct::ConvBNAct(const Config& config, const Scope& scope) : Conv2D(config, scope) {
  if (config.batch_norm_tpl) {
    Tpl<BaseNormalization> bn = config.batch_norm_tpl.clone();
    bn.set("dim", config.filter_shape.back());
    bn.try_set("use_moving_avg_in_training", false);
    bn_ = child("bn", bn);
  }
  activation_ = child("activation", config.activation_tpl);
}

Tensor ConvBNAct::fprop(Tensor x) const {
  Tensor y = convolved(x);
  if (bn_) y = bn_->fprop(y);
  return activation_->fprop(y);
}

ConvBNActWithPadding::ConvBNActWithPadding(const Config& config, const Scope& scope)
    : ConvBNAct(config, scope), compat_with_lingvo_(config.compat_with_lingvo) {
  if (config.compat_with_lingvo && config.dilations != std::array<int64_t, 2>{1, 1}) {
    pax::fail<ConfigError>("{}: compat_with_lingvo is true but dilations are {} and {}; it knows 1 and 1 only",
                           scope.path(), config.dilations[0], config.dilations[1]);
  }
}

Tensor ConvBNActWithPadding::output_paddings(Tensor paddings, int64_t length) const {
  const int64_t stride = conv_config().filter_stride[0], window = conv_config().filter_shape[0];
  if (conv_config().padding == ConvPadding::kValid) {
    Window windows = Window::of_rank(2);
    windows.sizes[1] = window;
    windows.strides[1] = stride;
    return reduce_window_min(paddings, windows);
  }
  if (!compat_with_lingvo_) return slice_dim(paddings, 1, 0, paddings.dim(1), stride);
  const Tensor last_of_each = slice_dim(paddings, 1, stride - 1, paddings.dim(1), stride);
  return pad_dim(last_of_each, 1, 0, length - last_of_each.dim(1), 1.0);
}

ConvBNActWithPadding::Padded ConvBNActWithPadding::fprop(Tensor x, Tensor paddings) const {
  const auto over_features = [](Tensor p) { return expand_dims(expand_dims(p, -1), -1); };
  const Tensor y = ConvBNAct::fprop(apply_padding(x, over_features(paddings)));
  if (conv_config().filter_stride[0] == 1 && conv_config().padding == ConvPadding::kSame) return {y, paddings};
  const Tensor out_paddings = output_paddings(paddings, y.dim(1));
  return {y * (1.0 - over_features(out_paddings)), out_paddings};
}

template const config::ConfigType& config::type_of<ConvBNAct::Config>();
template const config::ConfigType& config::type_of<ConvBNActWithPadding::Config>();

}  // namespace pax
