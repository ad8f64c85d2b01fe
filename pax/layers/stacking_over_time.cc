#include "pax/layers/stacking_over_time.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/gather.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {

std::span<const std::pair<PaddingReduce, std::string_view>> enum_names(PaddingReduce) {
  static constexpr std::pair<PaddingReduce, std::string_view> kNames[] = {{PaddingReduce::kReduceMin, "reduce_min"},
                                                                          {PaddingReduce::kReduceMax, "reduce_max"}};
  return kNames;
}

StackingOverTime::StackingOverTime(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  if (config.stride < 1) pax::fail<ConfigError>("{}: stride is {}; it must be at least 1", scope.path(), config.stride);
}

Tensor StackingOverTime::windows(Tensor x, double pad_value) const {
  const auto repeated = [&](int64_t step, int64_t times) {
    return broadcast_to(slice_dim(x, 1, step, step + 1), {x.dim(0), times, x.dim(2)});
  };
  const int64_t left = config_.left_context, right = config_.right_context, last = x.dim(1) - 1;
  std::vector<Tensor> parts;
  if (left > 0 && config_.pad_with_left_frame) parts.push_back(repeated(0, left));
  parts.push_back(x);
  if (right > 0 && config_.pad_with_right_frame) parts.push_back(repeated(last, right));
  const Tensor whole = pad_dim(concatenate(parts, 1), 1, config_.pad_with_left_frame ? 0 : left,
                               config_.pad_with_right_frame ? 0 : right, pad_value);
  const int64_t steps = whole.dim(1) - window() + 1;
  std::vector<Tensor> pieces;
  for (int64_t i = 0; i < window(); ++i) pieces.push_back(slice_dim(whole, 1, i, i + steps, config_.stride));
  return concatenate(pieces, 2);
}

StackingOverTime::Stacked StackingOverTime::stack(Tensor inputs, Tensor paddings) const {
  if (inputs.rank() != 3) fail(fmt::format("input is {}; it must be [B, T, D]", to_string(inputs.type())));
  if (paddings && (paddings.rank() != 3 || paddings.dim(2) != 1 || paddings.dim(1) != inputs.dim(1))) {
    fail(fmt::format("paddings are {}; they must be [B, T, 1] of input {}", to_string(paddings.type()),
                     to_string(inputs.type())));
  }
  if (trivial()) return {inputs, paddings};
  Stacked out{windows(inputs, 0.0), {}};
  if (!paddings) {
    out.paddings = full(graph(), {inputs.dtype(), {out.outputs.dim(0), out.outputs.dim(1), 1}}, 0.0);
    return out;
  }
  const Tensor padded = windows(paddings, 1.0);
  out.paddings = config_.padding_reduce_option == PaddingReduce::kReduceMin ? reduce_min(padded, {2}, Reduced::kKept)
                                                                            : reduce_max(padded, {2}, Reduced::kKept);
  return out;
}

Tensor StackingOverTime::unstack(Tensor stacked) const {
  if (trivial()) return stacked;
  const int64_t stride = config_.stride, left = config_.left_context, right = config_.right_context;
  if (stride > window()) {
    fail(fmt::format("stride {} leaves frames out of windows of {}; they cannot be unstacked", stride, window()));
  }
  const int64_t steps = stacked.dim(1);
  const Tensor frames = merge_dims(split_dim(stacked, 2, {window(), -1}), 1, 2);  // [B, S * window, D]
  std::vector<int32_t> places;
  for (int64_t i = 0; i < (steps - 1) * stride; ++i) {
    const bool in_next = i % stride > right;
    const int64_t frame = left + i % stride - (in_next ? stride : 0);
    places.push_back(static_cast<int32_t>((i / stride + (in_next ? 1 : 0)) * window() + frame));
  }
  for (int64_t i = 0; i <= right; ++i) places.push_back(static_cast<int32_t>((steps - 1) * window() + left + i));
  const auto count = static_cast<int64_t>(places.size());
  return take(frames, constant(graph(), HostArray::of<int32_t>(std::span<const int32_t>(places), {count})), 1);
}

template const config::ConfigType& config::type_of<StackingOverTime::Config>();

}  // namespace pax
