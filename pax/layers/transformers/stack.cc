#include "pax/layers/transformers/stack.h"

#include "pax/layers/attention/masks.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"

namespace pax {

Tensor TransformerStack::extend_step(const StackStep&) const { fail("this stack does not decode step by step"); }

StackMasks masks_for_fprop(const StackInputs& inputs, const MaskOptions& options) {
  const Tensor x = inputs.x_btd;
  StackMasks masks;
  if (options.fold_padding_with_segment_mask) {
    if (!inputs.segment_mask) fail_op(x.graph(), "masks", "fold_padding_with_segment_mask needs a segment mask");
    masks.self = inputs.segment_mask;
  } else {
    if (!inputs.paddings_bt) fail_op(x.graph(), "masks", "paddings are needed to mask them");
    masks.self = paddings_mask(inputs.paddings_bt, x.dtype());
    if (inputs.segment_mask) masks.self = merge_masks(masks.self, inputs.segment_mask);
  }
  if (options.causal) masks.self = merge_masks(masks.self, causal_mask(x));
  if (inputs.cross_bsd) {
    if (!inputs.cross_paddings_bs) fail_op(x.graph(), "masks", "cross inputs need their paddings");
    masks.cross = paddings_mask(inputs.cross_paddings_bs, inputs.cross_bsd.dtype());
    if (inputs.cross_segment_mask) masks.cross = minimum(masks.cross, inputs.cross_segment_mask);
  }
  return masks;
}

StackMasks masks_for_step(const StackStep& step) {
  StackMasks masks{.self = step.mask};
  if (!masks.self) {
    Graph& graph = step.x_bd.graph();
    const Tensor index = iota(graph, {DType::kS32, {1, 1, step.max_length}}, 2);
    Tensor masked = gt(index, step_of_rows(step.time_step, 3));
    if (step.segment_pos_b) {
      const Tensor start = step.time_step - convert(step.segment_pos_b, DType::kS32);
      masked = logical_or(masked, lt(index, expand_dims(expand_dims(start, 1), 1)));
    }
    masks.self = select(masked, full(graph, {DType::kF32, {}}, large_negative_number(DType::kF32)), 0.0);
  }
  if (step.cross_paddings_bs) {
    masks.cross = squeeze(paddings_mask(step.cross_paddings_bs, DType::kF32), {2});
    if (step.cross_segment_mask) masks.cross = minimum(masks.cross, step.cross_segment_mask);
  }
  return masks;
}

}  // namespace pax
