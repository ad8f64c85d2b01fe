#include "pax/base/error.h"
#include "pax/kernels/handlers.h"
#include "pax/kernels/product.h"

namespace pax {
namespace {

/// One factor: where its matrices begin, for each index of the batch dimensions, and their strides.
struct Factor {
  KernelCall::Array array;
  int64_t rows, cols, row_stride, col_stride;
  std::span<const int64_t> batch_strides;

  MatrixView at(int64_t offset) const {
    return {.data = array.as<const char>() + offset * static_cast<int64_t>(byte_size(array.dtype)),
            .dtype = array.dtype,
            .rows = rows,
            .cols = cols,
            .row_stride = row_stride,
            .col_stride = col_stride};
  }
  int64_t offset(int64_t index, std::span<const int64_t> batch) const {
    int64_t offset = 0;
    for (size_t i = batch.size(); i-- > 0; index /= batch[i]) offset += index % batch[i] * batch_strides[i];
    return offset;
  }
};

}  // namespace

void product_kernel(const KernelCall& call) {
  const std::span<const int64_t> sizes = call.integers("sizes");      // rows, depth, cols
  const std::span<const int64_t> strides = call.integers("strides");  // of a's rows and cols, of b's
  const std::span<const int64_t> batch = call.integers("batch");
  const Factor a{call.operand(0), sizes[0], sizes[1], strides[0], strides[1], call.integers("a_batch")};
  const Factor b{call.operand(1), sizes[1], sizes[2], strides[2], strides[3], call.integers("b_batch")};
  const KernelCall::Array out = call.result(0);
  int64_t count = 1;
  for (const int64_t size : batch) count *= size;
  const ParallelFor parallel = call.parallel();
  const auto one = [&](int64_t i, const ParallelFor& with) {
    const int64_t at = i * sizes[0] * sizes[2] * static_cast<int64_t>(byte_size(out.dtype));
    multiply(a.at(a.offset(i, batch)), b.at(b.offset(i, batch)), {out.as<char>() + at, out.dtype, sizes[2]}, with);
  };
  // Many small ones are spread over the threads, a few large ones are cut up.
  constexpr int64_t kMany = 8;
  if (count >= kMany) {
    parallel(count, [&](int64_t i) { one(i, run_in_order); });
  } else {
    for (int64_t i = 0; i < count; ++i) one(i, parallel);
  }
}

}  // namespace pax
