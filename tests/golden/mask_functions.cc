#include "pax/layers/attention/masks.h"
#include "pax/layers/transformers/stack.h"
#include "tests/golden/layer_call.h"

namespace pax::golden {
namespace {

Outputs causal(const LayerCall& call) { return {{"out", causal_mask(call.in("input_t"))}}; }

Outputs segments(const LayerCall& call) {
  return {{"out", segment_mask(call.in("segment_ids"), call.in("source_segment_ids"), DType::kF32)}};
}

Outputs causal_segments(const LayerCall& call) {
  return {{"out", causal_segment_mask(call.in("segment_ids"), DType::kF32, call.in("causal_attention_mask"))}};
}

Outputs limited_context(const LayerCall& call) {
  const int64_t size = call.number("time_size").value();
  const pax::Context context{call.number("left_context"), call.number("right_context")};
  return {{"out", limited_context_mask(call.graph, context, size, size, DType::kF32)}};
}

Outputs paddings(const LayerCall& call) { return {{"out", paddings_mask(call.in("paddings"), DType::kF32)}}; }

Outputs merged(const LayerCall& call) {
  return {{"out", merge_masks(paddings_mask(call.in("paddings"), DType::kF32), causal_mask(call.in("input_t")))}};
}

Outputs extend_step_mask(const LayerCall& call) {
  const Tensor paddings = call.in("cross_paddings");
  const StackMasks masks = masks_for_step({.x_bd = paddings,
                                           .time_step = call.in("time_step"),
                                           .cross_paddings_bs = paddings,
                                           .max_length = paddings.dim(1)});
  return {{"out", masks.self}};
}

constexpr FunctionBinder kFunctions[] = {
    {"causal_mask", causal},
    {"segment_mask", segments},
    {"causal_segment_mask", causal_segments},
    {"limited_context_mask", limited_context},
    {"convert_paddings_to_mask", paddings},
    {"merge_masks", merged},
    {"compute_attention_masks_for_extend_step", extend_step_mask},
};

}  // namespace

std::span<const FunctionBinder> mask_functions() { return kFunctions; }

}  // namespace pax::golden
