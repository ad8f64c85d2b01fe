#include "pax/kernels/product.h"

#include <algorithm>

#include "pax/kernels/scratch.h"
#include "pax/kernels/tiles.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace pax {
namespace {

// Rows, columns and depth that are packed at a time: what bounds the scratch memory.
constexpr int64_t kRows = 2048;
constexpr int64_t kCols = 2048;
constexpr int64_t kDepth = 2048;
// A task computes a block of this many panels each way, in steps that keep the panels in the caches.
constexpr int64_t kTaskRows = 4;
constexpr int64_t kTaskCols = 8;
constexpr int64_t kCachedSteps = 8;

/// The panels of one factor's rows (or columns) from `outer` on and its depth from `inner` on.
struct Packing {
  MatrixView matrix;  ///< outer elements are its rows
  tiles::Side side;
  int64_t outer, outers, inner, inners;
  char* panels;

  void pack(int64_t i) const {
    const int64_t size = static_cast<int64_t>(byte_size(matrix.dtype));
    const int64_t first = outer + i * tiles::kPanel;
    const auto* at =
        static_cast<const char*>(matrix.data) + (first * matrix.row_stride + inner * matrix.col_stride) * size;
    tiles::pack_panel({.data = at,
                       .dtype = matrix.dtype,
                       .outer = std::min(tiles::kPanel, outers - i * tiles::kPanel),
                       .inner = inners,
                       .outer_stride = matrix.row_stride,
                       .inner_stride = matrix.col_stride},
                      side, panels + i * tiles::panel_bytes(inners, tiles::parts_of(matrix.dtype)));
  }
  int64_t count() const { return tiles::panels_of(outers); }
};

/// The product of packed panels, block by block.
struct Blocks {
  const Packing& a;
  const Packing& b;
  MatrixTarget c;

  int64_t across() const { return (b.count() + kTaskCols - 1) / kTaskCols; }
  int64_t count() const { return (a.count() + kTaskRows - 1) / kTaskRows * across(); }

  void multiply(int64_t task) const {
    const tiles::TileUse use;
    const int64_t first_row = task / across() * kTaskRows, first_col = task % across() * kTaskCols;
    const int64_t steps = tiles::steps_of(a.inners);
    // Sums of bf16 results stay in the tiles.
    const int64_t cached = c.dtype == DType::kF32 ? kCachedSteps * (parts() == 1 ? 2 : 1) : steps;
    for (int64_t step = 0; step < std::max<int64_t>(steps, 1); step += std::max<int64_t>(cached, 1)) {
      for (int64_t col = first_col; col < std::min(first_col + kTaskCols, b.count()); ++col) {
        for (int64_t row = first_row; row < std::min(first_row + kTaskRows, a.count()); ++row) {
          multiply_panel(row, col, {step, std::min(step + cached, steps)});
        }
      }
    }
  }

 private:
  int64_t parts() const { return tiles::parts_of(a.matrix.dtype); }

  void multiply_panel(int64_t row, int64_t col, Piece steps) const {
    const int64_t panel = tiles::panel_bytes(a.inners, parts());
    const int64_t skipped = steps.begin * parts() * 2 * tiles::kTileBytes;
    const int64_t size = static_cast<int64_t>(byte_size(c.dtype));
    const int64_t at = (a.outer + row * tiles::kPanel) * c.row_stride + b.outer + col * tiles::kPanel;
    tiles::multiply_panels(a.panels + row * panel + skipped, b.panels + col * panel + skipped, steps.end - steps.begin,
                           parts(),
                           {.data = static_cast<char*>(c.data) + at * size,
                            .dtype = c.dtype,
                            .row_stride = c.row_stride,
                            .rows = std::min(tiles::kPanel, a.outers - row * tiles::kPanel),
                            .cols = std::min(tiles::kPanel, b.outers - col * tiles::kPanel),
                            .add = c.add || a.inner > 0 || steps.begin > 0});
  }
};

#if defined(__x86_64__) && defined(__linux__)
/// The processor's tiles of bf16, its vectors, and the kernel's leave to use them.
bool ask_for_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBf16Tiles = 1u << 22, kTiles = 1u << 24;
  constexpr unsigned kAvx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // F, DQ, BW, VL
  if ((d & kBf16Tiles) == 0 || (d & kTiles) == 0 || (b & kAvx512) != kAvx512) return false;
  constexpr long kAskForState = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
}
#else
bool ask_for_tiles() { return false; }
#endif

}  // namespace

bool has_tile_products() {
  static const bool has = ask_for_tiles();
  return has;
}

void multiply_by_tiles(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, const ParallelFor& parallel) {
  const int64_t parts = tiles::parts_of(a.dtype);
  const int64_t depth_at_once = c.dtype == DType::kF32 ? kDepth : std::max<int64_t>(a.cols, 1);
  const int64_t depth = std::min(depth_at_once, std::max<int64_t>(a.cols, 1));
  Scratch<char> a_panels(tiles::panels_of(std::min(a.rows, kRows)) * tiles::panel_bytes(depth, parts));
  Scratch<char> b_panels(tiles::panels_of(std::min(b.cols, kCols)) * tiles::panel_bytes(depth, parts));
  for (int64_t inner = 0; inner < std::max<int64_t>(a.cols, 1); inner += depth_at_once) {
    const int64_t inners = std::min(depth_at_once, a.cols - inner);
    for (int64_t col = 0; col < b.cols; col += kCols) {
      const Packing right{b.transposed(), tiles::Side::kRight, col, std::min(kCols, b.cols - col), inner,
                          inners,         b_panels.data()};
      for (int64_t row = 0; row < a.rows; row += kRows) {
        const Packing left{a, tiles::Side::kLeft, row, std::min(kRows, a.rows - row), inner, inners, a_panels.data()};
        const int64_t of_left = left.count(), of_right = row == 0 ? right.count() : 0;
        parallel(of_left + of_right, [&](int64_t i) { i < of_left ? left.pack(i) : right.pack(i - of_left); });
        const Blocks blocks{left, right, c};
        parallel(blocks.count(), [&](int64_t i) { blocks.multiply(i); });
      }
    }
  }
}

void multiply(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, const ParallelFor& parallel) {
  if (has_tile_products()) return multiply_by_tiles(a, b, c, parallel);
  multiply_by_vectors(a, b, c, parallel);
}

}  // namespace pax
