#pragma once

#include "pax/ir/op.h"

namespace pax {

// Sequences in blocks, for attention to near positions. B: batch, T: positions, W: positions of a block, U: blocks,
// L: positions seen to the left, the present one included, R: to the right, C = W + L - 1 + R: those a block sees.

struct BlockSizes {
  int64_t block = 0;  ///< W
  int64_t left = 1;   ///< L, from 1 to W + 1
  int64_t right = 0;  ///< R, from 0 to W
  int64_t context() const { return block + left - 1 + right; }
};

/// [B, T, …] as [B, U, W, …], filled up with `fill`.
Tensor to_blocks(Tensor x, int64_t block, double fill = 0);

/// [B, T, …] as [B, U, C, …]: what each block sees. Throws ShapeError when left or right are out of their bounds.
Tensor block_contexts(Tensor x, const BlockSizes& sizes, double fill = 0);

/// [B, T, T] as [B, U, W, C]: the rows of each block, and of them what the block sees.
Tensor block_mask(Tensor mask_btt, const BlockSizes& sizes, double fill);

/// [W, C] in `dtype`: 0 where a position of a block sees one of its context, else `masked`.
Tensor band(Graph& graph, const BlockSizes& sizes, DType dtype, double masked);

}  // namespace pax
