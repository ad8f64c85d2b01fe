#pragma once

#include "pax/layers/attention/attention.h"

namespace pax {

struct StackInputs {
  Tensor x_btd;
  Tensor paddings_bt;            ///< 1 at padding
  Tensor segment_mask;           ///< [1|B, 1, T, T]; may be null
  Tensor cross_bsd;              ///< what cross attention looks at; may be null
  Tensor cross_paddings_bs;      ///< may be null
  Tensor cross_segment_mask;     ///< [B, 1, T, S]; may be null
  Tensor segment_pos_bt;         ///< may be null
  DecodeCache* cache = nullptr;  ///< filled with what later steps need
};

struct StackStep {
  Tensor x_bd;
  Tensor time_step;           ///< i32: where in the cache this step goes; a scalar, or [B]
  Tensor segment_pos_b;       ///< may be null: the time step
  Tensor mask;                ///< [1|B, 1, S]; null: causal over one contiguous segment
  Tensor cross_paddings_bs;   ///< may be null
  Tensor cross_segment_mask;  ///< [B, 1, S]; may be null
  int64_t max_length = 0;     ///< S: positions of the cache
  DecodeCache* cache = nullptr;
};

/// All layers of a Transformer.
class TransformerStack : public Layer {
 public:
  using Interface = TransformerStack;
  using Layer::fprop;
  using Layer::Layer;
  /// [B, T, D].
  virtual Tensor fprop(const StackInputs& inputs) const = 0;
  /// [B, D].
  virtual Tensor extend_step(const StackStep& step) const;
};

/// The masks that the layers of a stack share.
struct StackMasks {
  Tensor self;   ///< [1|B, 1, 1|T, T]
  Tensor cross;  ///< [B, 1, 1|T, S]; null without cross inputs
};

struct MaskOptions {
  bool causal = false;
  /// The segment mask tells padding from the rest; there is no padding mask of its own.
  bool fold_padding_with_segment_mask = false;
};
StackMasks masks_for_fprop(const StackInputs& inputs, const MaskOptions& options);
/// `self` is [1|B, 1, S], `cross` [B, 1, S].
StackMasks masks_for_step(const StackStep& step);

}  // namespace pax
