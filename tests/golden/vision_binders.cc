#include "pax/layers/convolutions/conv_bn_act.h"
#include "pax/layers/convolutions/light_conv1d.h"
#include "pax/layers/convolutions/poolings.h"
#include "pax/layers/stacking_over_time.h"
#include "tests/golden/layer_call.h"

// Convolutions, poolings, and what else takes frames and their paddings.

namespace pax::golden {
namespace {

Outputs pair(Tensor outputs, Tensor paddings, const LayerCall& call) {
  // A call that names one result, or picks the first one, records it as `out`.
  if (call.recorded.tensor("out/out") != nullptr) return {{"out", outputs}};
  return {{"outputs", outputs}, {"paddings", paddings}};
}

Outputs call_conv_padded(const ConvBNActWithPadding& layer, const LayerCall& call) {
  const auto [outputs, paddings] = layer.fprop(call.in("inputs"), call.in("paddings"));
  return pair(outputs, paddings, call);
}

Outputs call_depthwise(const BaseDepthwiseConv1D& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("inputs"), call.in("paddings"))}};
}

Outputs call_light_conv(const LightConv1D& layer, const LayerCall& call) {
  return {{"out", layer.fprop(call.in("inputs"), call.in("paddings"))}};
}

Outputs call_pooling(const Pooling& layer, const LayerCall& call) {
  const auto [outputs, paddings] = layer.pool(call.in("inputs"), call.in("paddings"));
  return pair(outputs, paddings, call);
}

Outputs call_pooling1d(const Pooling1D& layer, const LayerCall& call) {
  const auto [outputs, paddings] = layer.pool(call.in("inputs"), call.in("paddings"));
  return pair(outputs, paddings, call);
}

/// The recorded calls are `layer(inputs, paddings)`, where Praxis's second argument is epsilon, which only counts with
/// `compatible_paddings`: every position is pooled.
Outputs call_global_pooling(const GlobalPooling& layer, const LayerCall& call) {
  return {{"out", layer.pool(call.in("inputs"), call.in("compatible_paddings"))}};
}

Outputs call_stacking(const StackingOverTime& layer, const LayerCall& call) {
  const auto [outputs, paddings] = layer.stack(call.in("inputs"), call.in("paddings"));
  return pair(outputs, paddings, call);
}

constexpr LayerBinder kBinders[] = {binder<ConvBNActWithPadding, call_conv_padded>(),
                                    binder<BaseDepthwiseConv1D, call_depthwise>(),
                                    binder<LightConv1D, call_light_conv>(),
                                    binder<Pooling, call_pooling>(),
                                    binder<Pooling1D, call_pooling1d>(),
                                    binder<GlobalPooling, call_global_pooling>(),
                                    binder<StackingOverTime, call_stacking>()};

}  // namespace

std::span<const LayerBinder> vision_binders() { return kBinders; }

}  // namespace pax::golden
