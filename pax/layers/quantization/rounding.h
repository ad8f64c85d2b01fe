#pragma once

#include "pax/layers/layer.h"
#include "pax/layers/quantization/quantization_params.h"

namespace pax {

// Numbers with few bits. A quantised tensor stands for `values * scale - zero_point`.

/// An equation "lhs,rhs->out" of two operands without dots, and which dimensions of each are summed over.
struct ProductEquation {
  std::string lhs, rhs, out;
  /// From an equation that may have dots in front, for operands of these ranks.
  ProductEquation(std::string_view equation, int64_t lhs_rank, int64_t rhs_rank);
  std::vector<int64_t> contracted_lhs() const;
  std::vector<int64_t> contracted_rhs() const;
  std::string text() const { return lhs + "," + rhs + "->" + out; }
};

struct Quantized {
  Tensor values;      ///< whole numbers; the float type of the input where gradients are wanted, else integers
  Tensor scale;       ///< the contracted dimensions are 1
  Tensor zero_point;  ///< times scale; null when symmetric
  Tensor dequantized() const;
};

struct RoundingOptions {
  int64_t bits = 8;
  bool symmetric = true;
  double percentile = 1.0;  ///< share of the range that is kept
  enum class Gradient : uint8_t { kNone, kStraightThrough } gradient = Gradient::kNone;
  std::string_view method = "default";  ///< or "bin" and "bin_norm", with 1 bit
};

/// `x` rounded to `bits`, with a scale for each place of the dimensions that are not in `over` (praxis
/// operations.reduce_precision).
Quantized round_to_bits(Tensor x, const std::vector<int64_t>& over, const RoundingOptions& options);

/// `shape` with dimension `dim` as two: `blocks`, and what is in a block.
Shape in_blocks(const Shape& shape, int64_t dim, int64_t blocks);

/// The whole-number range of so many bits.
std::pair<double, double> integer_range(int64_t bits, bool is_unsigned);

/// fn(x) in value, x in gradient.
Tensor pass_through(Tensor x, Tensor (*fn)(Tensor));

/// 4-bit whole numbers, 8 (i32) or 2 (i8) to an element along dimension `dim`, the first one lowest.
Tensor pack_4bit(Tensor x, int64_t dim, DType container);
/// The reverse, to i8.
Tensor unpack_4bit(Tensor packed, int64_t dim);

/// What of an AQT quantiser is not in RoundingOptions (praxis quantizer.TensorQuantizer).
struct AqtOptions {
  std::optional<int64_t> bits;
  bool symmetric = true;
  bool unsigned_bounds = false;
  bool stop_scale_gradient = false;
  bool add_scale_eps = true;
  std::optional<double> clipping;
  std::optional<double> min_clipping;
  int64_t num_optimize_clipping = 0;
  bool per_channel_clipping = false;
};
Quantized round_aqt(Tensor x, const std::vector<int64_t>& over, const AqtOptions& options);

}  // namespace pax
