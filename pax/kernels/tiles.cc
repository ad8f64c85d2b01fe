#include "pax/kernels/tiles.h"

#include <cstring>

#if defined(__x86_64__)
// GCC warns of its own intrinsics' undefined operands.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#define PAX_TILE_CODE __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,amx-tile,amx-bf16")))
#define PAX_TILE_INLINE __attribute__((always_inline)) PAX_TILE_CODE inline

namespace pax::tiles {
namespace {

constexpr int64_t kTile = 16;

/// The compiler does not know what instructions on tiles read: all that was written must be in memory.
inline void settle_memory() { asm volatile("" ::: "memory"); }

/// A 64-byte register a row: 16 numbers of 32 bits each.
using Rows = __m512i[kTile];

/// Rows and columns change places.
PAX_TILE_INLINE void transpose(Rows& r) {
  Rows t;
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

/// The nearest number with the bits of a bf16, as f32.
PAX_TILE_INLINE __m512i top_half(__m512i f) {
  return _mm512_and_si512(_mm512_add_epi32(f, _mm512_set1_epi32(0x8000)), _mm512_set1_epi32(-65536));
}

PAX_TILE_INLINE __m512i minus(__m512i a, __m512i b) {
  return _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
}

/// The three bf16 that an f32 is the sum of, in the upper halves. What overflows or is no number gives no number.
PAX_TILE_INLINE void cut(__m512i f, __m512i (&part)[3]) {
  part[0] = top_half(f);
  const __m512i rest = minus(f, part[0]);
  part[1] = top_half(rest);
  part[2] = minus(rest, part[1]);
}

/// Upper halves of 32 numbers in order.
PAX_TILE_INLINE __m512i join_halves(__m512i low, __m512i high) {
  const __m512i odd = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27, 25,
                                       23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  return _mm512_permutex2var_epi16(low, odd, high);
}

/// Upper halves of two rows as pairs.
PAX_TILE_INLINE __m512i pair_halves(__m512i even, __m512i odd) {
  return _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(even, 16), odd);
}

PAX_TILE_INLINE __mmask16 first16(int64_t count) {
  return count >= 16 ? 0xffff : count <= 0 ? 0 : static_cast<__mmask16>((1u << count) - 1);
}
PAX_TILE_INLINE __mmask32 first32(int64_t count) {
  return count >= 32 ? 0xffffffffu : count <= 0 ? 0 : (1u << count) - 1;
}

PAX_TILE_INLINE void store(const Rows& rows, char* tile) {
  for (int i = 0; i < 16; ++i) _mm512_store_si512(tile + i * 64, rows[i]);
}

/// Where a tile's 16 outer by 32 inner elements begin, and how many of them there are.
struct TileSource {
  const char* data;
  int64_t outer_bytes, inner_bytes;
  int64_t outer, inner;
};

/// Inner elements lie side by side: row i holds the outer element i.
PAX_TILE_INLINE void load_rows_f32(const TileSource& s, Rows (&parts)[3]) {
  const __mmask16 low = first16(s.inner), high = first16(s.inner - 16);
  for (int i = 0; i < 16; ++i) {
    const bool there = i < s.outer;
    const char* row = s.data + i * s.outer_bytes;
    __m512i a[3], b[3];
    cut(_mm512_maskz_loadu_epi32(there ? low : 0, row), a);
    cut(_mm512_maskz_loadu_epi32(there ? high : 0, row + 64), b);
    for (int p = 0; p < 3; ++p) parts[p][i] = join_halves(a[p], b[p]);
  }
}

/// Outer elements lie side by side: row i holds the inner elements 2i and 2i + 1 of all outer ones.
PAX_TILE_INLINE void load_pairs_f32(const TileSource& s, Rows (&parts)[3]) {
  const __mmask16 all = first16(s.outer);
  for (int i = 0; i < 16; ++i) {
    const char* row = s.data + 2 * i * s.inner_bytes;
    __m512i a[3], b[3];
    cut(_mm512_maskz_loadu_epi32(2 * i < s.inner ? all : 0, row), a);
    cut(_mm512_maskz_loadu_epi32(2 * i + 1 < s.inner ? all : 0, row + s.inner_bytes), b);
    for (int p = 0; p < 3; ++p) parts[p][i] = pair_halves(a[p], b[p]);
  }
}

PAX_TILE_INLINE void load_rows_bf16(const TileSource& s, Rows& rows) {
  const __mmask32 all = first32(s.inner);
  for (int i = 0; i < 16; ++i) {
    rows[i] = _mm512_maskz_loadu_epi16(i < s.outer ? all : 0, s.data + i * s.outer_bytes);
  }
}

PAX_TILE_INLINE void load_pairs_bf16(const TileSource& s, Rows& rows) {
  const __mmask16 all = first16(s.outer);
  for (int i = 0; i < 16; ++i) {
    const char* row = s.data + 2 * i * s.inner_bytes;
    const __m512i even = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(2 * i < s.inner ? all : 0, row));
    const __m512i odd =
        _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(2 * i + 1 < s.inner ? all : 0, row + s.inner_bytes));
    rows[i] = _mm512_or_si512(even, _mm512_slli_epi32(odd, 16));
  }
}

/// One step of a panel: for each part two tiles.
PAX_TILE_CODE void pack_step_f32(const TileSource& s, bool pairs, bool want_pairs, char* out) {
  for (int64_t half = 0; half < 2; ++half) {
    const TileSource at{s.data + half * kTile * s.outer_bytes, s.outer_bytes, s.inner_bytes, s.outer - half * kTile,
                        s.inner};
    Rows parts[3];
    if (pairs) {
      load_pairs_f32(at, parts);
    } else {
      load_rows_f32(at, parts);
    }
    for (int64_t p = 0; p < 3; ++p) {
      if (pairs != want_pairs) transpose(parts[p]);
      store(parts[p], out + (2 * p + half) * kTileBytes);
    }
  }
}

PAX_TILE_CODE void pack_step_bf16(const TileSource& s, bool pairs, bool want_pairs, char* out) {
  for (int64_t half = 0; half < 2; ++half) {
    const TileSource at{s.data + half * kTile * s.outer_bytes, s.outer_bytes, s.inner_bytes, s.outer - half * kTile,
                        s.inner};
    Rows rows;
    if (pairs) {
      load_pairs_bf16(at, rows);
    } else {
      load_rows_bf16(at, rows);
    }
    if (pairs != want_pairs) transpose(rows);
    store(rows, out + half * kTileBytes);
  }
}

// Tiles 0 to 3 hold the sums, row by row; 4 and 5 those of a, 6 and 7 those of b.
PAX_TILE_INLINE void load_a(const char* step, int64_t part) {
  _tile_loadd(4, step + part * 2 * kTileBytes, 64);
  _tile_loadd(5, step + (part * 2 + 1) * kTileBytes, 64);
}
PAX_TILE_INLINE void load_b(const char* step, int64_t part) {
  _tile_loadd(6, step + part * 2 * kTileBytes, 64);
  _tile_loadd(7, step + (part * 2 + 1) * kTileBytes, 64);
}
PAX_TILE_INLINE void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

PAX_TILE_CODE void sum_steps_bf16(const char* a, const char* b, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i, a += 2 * kTileBytes, b += 2 * kTileBytes) {
    load_a(a, 0);
    load_b(b, 0);
    add_products();
  }
}

/// Small products first; each step keeps one of the two pairs of tiles that the step before it used.
PAX_TILE_CODE void sum_steps_f32(const char* a, const char* b, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i, a += 6 * kTileBytes, b += 6 * kTileBytes) {
    load_a(a, 0);
    load_b(b, 2);
    add_products();
    load_b(b, 1);
    add_products();
    load_a(a, 1);
    add_products();
    load_b(b, 0);
    add_products();
    load_a(a, 2);
    add_products();
    load_a(a, 0);
    add_products();
  }
}

/// Writes the parts of a block of sums that are inside of the target.
PAX_TILE_CODE void write_block(const float* sums, const BlockTarget& c) {
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t col = 0; col < c.cols; col += 16) {
      const __mmask16 mask = first16(c.cols - col);
      __m512 value = _mm512_load_ps(sums + row * kPanel + col);
      if (c.dtype == DType::kF32) {
        float* at = static_cast<float*>(c.data) + row * c.row_stride + col;
        if (c.add) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, at));
        _mm512_mask_storeu_ps(at, mask, value);
      } else {
        // Round to nearest even.
        const __m512i bits = _mm512_castps_si512(value);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        __m512i rounded =
            _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
        const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
        rounded = _mm512_mask_mov_epi32(rounded, nan, _mm512_set1_epi32(0x7fc0));
        _mm256_mask_storeu_epi16(static_cast<uint16_t*>(c.data) + row * c.row_stride + col, mask,
                                 _mm512_cvtepi32_epi16(rounded));
      }
    }
  }
}

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

}  // namespace

void pack_panel(const PanelSource& s, Side side, char* panel) {
  const int64_t size = s.dtype == DType::kBF16 ? 2 : 4;
  const int64_t step_bytes = parts_of(s.dtype) * 2 * kTileBytes;
  const bool pairs = s.inner_stride != 1;
  for (int64_t i = 0; i * kStep < s.inner; ++i) {
    const TileSource source{static_cast<const char*>(s.data) + i * kStep * s.inner_stride * size, s.outer_stride * size,
                            s.inner_stride * size, s.outer, s.inner - i * kStep};
    if (s.dtype == DType::kBF16) {
      pack_step_bf16(source, pairs, side == Side::kRight, panel + i * step_bytes);
    } else {
      pack_step_f32(source, pairs, side == Side::kRight, panel + i * step_bytes);
    }
  }
}

PAX_TILE_CODE void start_tiles() {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = 16;
  }
  settle_memory();
  _tile_loadconfig(&config);
}

PAX_TILE_CODE void end_tiles() { _tile_release(); }

void multiply_panels(const char* a, const char* b, int64_t steps, int64_t parts, const BlockTarget& c) {
  settle_memory();
  const bool direct = c.dtype == DType::kF32 && c.rows == kPanel && c.cols == kPanel;
  float* at = static_cast<float*>(c.data);
  const int64_t stride = c.row_stride * 4;
  if (direct && c.add) {
    _tile_loadd(0, at, stride);
    _tile_loadd(1, at + kTile, stride);
    _tile_loadd(2, at + kTile * c.row_stride, stride);
    _tile_loadd(3, at + kTile * c.row_stride + kTile, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  if (parts == 1) {
    sum_steps_bf16(a, b, steps);
  } else {
    sum_steps_f32(a, b, steps);
  }
  if (direct) {
    _tile_stored(0, at, stride);
    _tile_stored(1, at + kTile, stride);
    _tile_stored(2, at + kTile * c.row_stride, stride);
    _tile_stored(3, at + kTile * c.row_stride + kTile, stride);
    return;
  }
  alignas(64) float sums[kPanel * kPanel];
  _tile_stored(0, sums, kPanel * 4);
  _tile_stored(1, sums + kTile, kPanel * 4);
  _tile_stored(2, sums + kTile * kPanel, kPanel * 4);
  _tile_stored(3, sums + kTile * kPanel + kTile, kPanel * 4);
  write_block(sums, c);
}

}  // namespace pax::tiles

#else

namespace pax::tiles {

void pack_panel(const PanelSource&, Side, char*) {}
void start_tiles() {}
void end_tiles() {}
void multiply_panels(const char*, const char*, int64_t, int64_t, const BlockTarget&) {}

}  // namespace pax::tiles

#endif
