#include "pax/layers/attention/causal_depthwise_conv1d.h"

#include <fmt/format.h>

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

CausalDepthwiseConv1D::CausalDepthwiseConv1D(const Config& config, const Scope& scope) : Layer(config, scope) {
  const Shape shape =
      config.hidden_dims.index() == 0 ? Shape{std::get<0>(config.hidden_dims)} : Shape(std::get<1>(config.hidden_dims));
  for (int64_t i = 0; i < config.kernel_size; ++i) {
    const double start = i == 0 ? 0.5 : 0.5 / static_cast<double>(config.kernel_size);
    w_.push_back(param(fmt::format("dconv_{}", i),
                       {.shape = shape, .init = WeightInit::constant(start), .split = weight_split("wt")}));
  }
}

Tensor CausalDepthwiseConv1D::convolve(Tensor x, const Place& place) const {
  if (place.axis >= x.rank()) fail("input has no dimension of that number to convolve along");
  Tensor y = x * w_[0];
  for (size_t i = 1; i < w_.size(); ++i) {
    x = pad_dim(slice_dim(x, place.axis, 0, x.dim(place.axis) - 1), place.axis, 1, 0);
    Tensor term = x * w_[i];
    if (place.segment_pos) {
      Tensor inside = convert(ge(place.segment_pos, static_cast<double>(i)), x.dtype());
      while (inside.rank() < x.rank()) inside = expand_dims(inside, -1);
      term = term * inside;
    }
    y = y + term;
  }
  return y;
}

Tensor CausalDepthwiseConv1D::extend_step(Tensor x, Tensor step, Tensor segment_pos) const {
  Tensor y = dynamic_index(x, 1, step) * w_[0];
  Tensor position = segment_pos ? segment_pos : step;
  while (position.rank() > 0 && position.rank() < y.rank()) position = expand_dims(position, -1);
  for (size_t i = 1; i < w_.size(); ++i) {
    const auto back = static_cast<double>(i);
    const Tensor before = dynamic_index(x, 1, maximum(step - back, 0.0));
    y = y + select(ge(position, back), before, 0.0) * w_[i];
  }
  return y;
}

template const config::ConfigType& config::type_of<CausalDepthwiseConv1D::Config>();

}  // namespace pax
