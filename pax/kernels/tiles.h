#pragma once

// For the sources of this folder: matrices cut into the tiles of Intel AMX.

#include <cstdint>

#include "pax/array/dtype.h"

namespace pax::tiles {

// A panel is 32 rows (of a) or columns (of b), two tiles of 16. Along the sum it advances in steps of 32; each step has
// one pair of tiles a part: one part for bf16, three for f32. All is filled up with zeros.
inline constexpr int64_t kPanel = 32;
inline constexpr int64_t kStep = 32;
inline constexpr int64_t kTileBytes = 1024;

constexpr int64_t parts_of(DType dtype) { return dtype == DType::kBF16 ? 1 : 3; }
constexpr int64_t steps_of(int64_t depth) { return (depth + kStep - 1) / kStep; }
constexpr int64_t panels_of(int64_t size) { return (size + kPanel - 1) / kPanel; }
constexpr int64_t panel_bytes(int64_t depth, int64_t parts) { return steps_of(depth) * parts * 2 * kTileBytes; }

/// Elements of one panel: `outer` numbers rows of a or columns of b, `inner` runs along the sum.
struct PanelSource {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t outer = 0, inner = 0;  ///< how many there are; at most kPanel outer ones
  int64_t outer_stride = 0, inner_stride = 0;
};

/// Which factor the panel is of: tiles of `a` hold rows, those of `b` pairs of rows (VNNI).
enum class Side : uint8_t { kLeft, kRight };

/// Fills a panel of panel_bytes(inner, parts).
void pack_panel(const PanelSource& source, Side side, char* panel);

struct BlockTarget {
  void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t row_stride = 0;
  int64_t rows = 0, cols = 0;  ///< at most kPanel each
  bool add = false;
};

/// Sets up the tiles of the thread; they are given back at the end of its work.
void start_tiles();
void end_tiles();

/// Tiles are set up while it lives; one a thread.
class TileUse {
 public:
  TileUse() { start_tiles(); }
  ~TileUse() { end_tiles(); }
  TileUse(const TileUse&) = delete;
  TileUse& operator=(const TileUse&) = delete;
};

/// Adds or stores the product of `steps` steps of two panels.
void multiply_panels(const char* a, const char* b, int64_t steps, int64_t parts, const BlockTarget& c);

}  // namespace pax::tiles
