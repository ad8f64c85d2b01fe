#pragma once

#include "pax/array/dtype.h"
#include "pax/kernels/parallel.h"

namespace pax {

/// A matrix in memory, f32 or bf16. Strides count elements; one of them is 1.
struct MatrixView {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t rows = 0, cols = 0;
  int64_t row_stride = 0, col_stride = 1;

  MatrixView transposed() const { return {data, dtype, cols, rows, col_stride, row_stride}; }
};

/// Where a product goes: rows of consecutive elements, f32 or bf16.
struct MatrixTarget {
  void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t row_stride = 0;
  /// Add to what is there instead of replacing it; f32 only.
  bool add = false;
};

/// Whether this machine and its kernel multiply by tiles (Intel AMX).
bool has_tile_products();

/// c = a b. Sums are taken in f32. Products of f32 are as exact as f32 arithmetic: with tiles each factor is cut into
/// three bf16 that add up to it, and the six products above 2^-24 are summed.
void multiply(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, const ParallelFor& parallel);

/// The ways it is done, for tests: by tiles (x86 with AMX only), by vectors on any machine.
void multiply_by_tiles(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, const ParallelFor& parallel);
void multiply_by_vectors(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, const ParallelFor& parallel);

}  // namespace pax
