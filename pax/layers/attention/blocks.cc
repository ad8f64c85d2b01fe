#include "pax/layers/attention/blocks.h"

#include <fmt/format.h>

#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/require.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

void check(Tensor x, const BlockSizes& sizes) {
  if (sizes.block < 1 || sizes.left < 1 || sizes.left > sizes.block + 1 || sizes.right < 0 ||
      sizes.right > sizes.block) {
    fail_op(
        x.graph(), "local attention",
        fmt::format("left_context {} must be within 1 and block_size + 1, right_context {} within 0 and block_size; "
                    "block_size is {}",
                    sizes.left, sizes.right, sizes.block));
  }
}

int64_t num_blocks(int64_t positions, int64_t block) { return (positions + block - 1) / block; }

}  // namespace

Tensor to_blocks(Tensor x, int64_t block, double fill) {
  const int64_t u = num_blocks(x.dim(1), block);
  return split_dim(pad_dim(x, 1, 0, u * block - x.dim(1), fill), 1, {u, block});
}

Tensor block_contexts(Tensor x, const BlockSizes& sizes, double fill) {
  check(x, sizes);
  const Tensor blocks = to_blocks(x, sizes.block, fill);
  const int64_t u = blocks.dim(1), w = sizes.block;
  std::vector<Tensor> parts{blocks};
  if (sizes.left > 1) {
    const Tensor before = pad_dim(slice_dim(blocks, 1, 0, u - 1), 1, 1, 0, fill);
    parts.insert(parts.begin(), slice_dim(before, 2, w - (sizes.left - 1), w));
  }
  if (sizes.right > 0) {
    const Tensor after = pad_dim(slice_dim(blocks, 1, 1, u), 1, 0, 1, fill);
    parts.push_back(slice_dim(after, 2, 0, sizes.right));
  }
  return parts.size() == 1 ? blocks : concatenate(std::move(parts), 2);
}

Tensor block_mask(Tensor mask_btt, const BlockSizes& sizes, double fill) {
  check(mask_btt, sizes);
  const int64_t b = mask_btt.dim(0), t = mask_btt.dim(1), w = sizes.block, u = num_blocks(t, w);
  const int64_t filled = u * w - t, columns = u * w + sizes.left - 1 + sizes.right;
  Tensor mask = pad_dim(mask_btt, 1, 0, filled, fill);
  mask = pad_dim(mask, 2, sizes.left - 1, filled + sizes.right, fill);
  // Block u begins at column u W: rows of blocks that are read W elements longer than they are begin there.
  mask = pad_dim(reshape(mask, {b, u * w * columns}), 1, 0, u * w, fill);
  mask = slice_dim(reshape(mask, {b, u, w * columns + w}), 2, 0, w * columns);
  return slice_dim(reshape(mask, {b, u, w, columns}), 3, 0, sizes.context());
}

Tensor band(Graph& graph, const BlockSizes& sizes, DType dtype, double masked) {
  const TensorType index{DType::kS32, {sizes.block, sizes.context()}};
  const Tensor ahead = iota(graph, index, 1) - iota(graph, index, 0);
  const Tensor seen = logical_and(ge(ahead, 0.0), le(ahead, static_cast<double>(sizes.left - 1 + sizes.right)));
  return select(seen, 0.0, full(graph, {dtype, {}}, masked));
}

}  // namespace pax
