#include <algorithm>
#include <cstring>

#include "pax/kernels/product.h"
#include "pax/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pax/kernels/product_vectors.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pax::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;

// A block of sums is kHeight rows by two vectors; it stays in registers, of which there are 32 or 16.
constexpr int64_t kHeight = HWY_TARGET <= HWY_AVX3 ? 12 : 4;
// Depth, and rows of a, that are packed at a time: they stay in the caches.
constexpr int64_t kDepth = 256;
constexpr int64_t kRows = 16 * kHeight;

float element(const MatrixView& m, int64_t row, int64_t col) {
  const int64_t at = row * m.row_stride + col * m.col_stride;
  if (m.dtype == DType::kF32) return static_cast<const float*>(m.data)[at];
  const uint32_t bits = uint32_t{static_cast<const uint16_t*>(m.data)[at]} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

struct Range {
  int64_t first, count;
};

/// `height` rows as one panel: for each column of `depth` its elements side by side; filled up with zeros.
void pack(const MatrixView& m, Range rows, Range depth, int64_t height, float* out) {
  for (int64_t k = 0; k < depth.count; ++k) {
    for (int64_t i = 0; i < height; ++i) {
      *out++ = i < rows.count ? element(m, rows.first + i, depth.first + k) : 0.0f;
    }
  }
}

/// The sums of one block, from a panel of a and one of b.
HWY_INLINE void sum_block(const float* a, const float* b, int64_t depth, float* sums) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> low[kHeight], high[kHeight];
  for (int64_t i = 0; i < kHeight; ++i) low[i] = high[i] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k, a += kHeight, b += 2 * lanes) {
    const auto b_low = hn::Load(d, b), b_high = hn::Load(d, b + lanes);
    for (int64_t i = 0; i < kHeight; ++i) {
      const auto a_i = hn::Set(d, a[i]);
      low[i] = hn::MulAdd(a_i, b_low, low[i]);
      high[i] = hn::MulAdd(a_i, b_high, high[i]);
    }
  }
  for (int64_t i = 0; i < kHeight; ++i) {
    hn::Store(low[i], d, sums + i * 2 * lanes);
    hn::Store(high[i], d, sums + i * 2 * lanes + lanes);
  }
}

uint16_t to_bf16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rows of the product, `cols` of them at a time; sums of the whole depth are kept in f32.
struct Rows {
  const MatrixView& a;
  const MatrixView& b;
  const MatrixTarget& c;
  int64_t width;          ///< of a block
  const float* b_panels;  ///< of depth [k, k + kDepth)

  void multiply(Range rows, Range depth, float* a_panels, float* sums) const {
    const int64_t panels = (rows.count + kHeight - 1) / kHeight;
    for (int64_t p = 0; p < panels; ++p) {
      const Range part{rows.first + p * kHeight, std::min(kHeight, rows.count - p * kHeight)};
      pack(a, part, depth, kHeight, a_panels + p * kHeight * depth.count);
    }
    for (int64_t col = 0; col < b.cols; col += width) {
      for (int64_t p = 0; p < panels; ++p) {
        sum_block(a_panels + p * kHeight * depth.count, b_panels + col * depth.count, depth.count, sums);
        const Range part{rows.first + p * kHeight, std::min(kHeight, rows.count - p * kHeight)};
        write(part, {col, std::min(width, b.cols - col)}, sums, c.add || depth.first > 0);
      }
    }
  }

 private:
  void write(Range rows, Range cols, const float* sums, bool add) const {
    for (int64_t i = 0; i < rows.count; ++i) {
      const int64_t at = (rows.first + i) * c.row_stride + cols.first;
      if (c.dtype == DType::kF32) {
        float* out = static_cast<float*>(c.data) + at;
        for (int64_t j = 0; j < cols.count; ++j) out[j] = (add ? out[j] : 0.0f) + sums[i * width + j];
      } else {
        uint16_t* out = static_cast<uint16_t*>(c.data) + at;
        for (int64_t j = 0; j < cols.count; ++j) out[j] = to_bf16(sums[i * width + j]);
      }
    }
  }
};

void multiply(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, const ParallelFor& parallel) {
  const int64_t width = 2 * static_cast<int64_t>(hn::Lanes(D()));
  const int64_t col_panels = (b.cols + width - 1) / width, row_blocks = (a.rows + kRows - 1) / kRows;
  // bf16 results are summed over the whole depth before they are rounded.
  const int64_t at_once = c.dtype == DType::kF32 ? kDepth : std::max<int64_t>(a.cols, 1);
  const int64_t most = std::min(at_once, std::max<int64_t>(a.cols, 1));
  Scratch<float> b_panels(col_panels * width * most);
  for (int64_t k = 0; k < std::max<int64_t>(a.cols, 1); k += at_once) {
    const Range depth{k, std::min(at_once, a.cols - k)};
    parallel(col_panels, [&](int64_t i) {
      pack(b.transposed(), {i * width, std::min(width, b.cols - i * width)}, depth, width,
           b_panels.data() + i * width * depth.count);
    });
    parallel(row_blocks, [&](int64_t i) {
      Scratch<float> a_panels(kRows * most), sums(kHeight * width);
      Rows{a, b, c, width, b_panels.data()}.multiply({i * kRows, std::min(kRows, a.rows - i * kRows)}, depth,
                                                     a_panels.data(), sums.data());
    });
  }
}

}  // namespace
}  // namespace pax::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pax {
HWY_EXPORT(multiply);

void multiply_by_vectors(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, const ParallelFor& parallel) {
  HWY_DYNAMIC_DISPATCH(multiply)(a, b, c, parallel);
}
}  // namespace pax
#endif
