#include "pax/layers/quantization/rounding.h"

#include <cmath>
#include <limits>

#include "pax/base/error.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

std::span<const std::pair<QuantizationType, std::string_view>> enum_names(QuantizationType) {
  static constexpr std::pair<QuantizationType, std::string_view> kNames[] = {{QuantizationType::kPtq, "ptq"},
                                                                             {QuantizationType::kAqt, "aqt"},
                                                                             {QuantizationType::kFq, "fq"},
                                                                             {QuantizationType::kFqVn, "fq_vn"}};
  return kNames;
}

std::span<const std::pair<QuantizationMode, std::string_view>> enum_names(QuantizationMode) {
  static constexpr std::pair<QuantizationMode, std::string_view> kNames[] = {
      {QuantizationMode::kTraining, "training"},
      {QuantizationMode::kMaterialize, "materialize"},
      {QuantizationMode::kInference, "inference"}};
  return kNames;
}

namespace {

/// `letters` with its dots replaced by letters of their own, which are not in `equation`.
std::string without_dots(std::string letters, int64_t dots, std::string_view equation) {
  const size_t at = letters.find("...");
  if (at == std::string::npos) return letters;
  std::string own;
  for (char letter = 'A'; letter <= 'Z' && static_cast<int64_t>(own.size()) < dots; ++letter) {
    if (equation.find(letter) == std::string_view::npos) own += letter;
  }
  return letters.replace(at, 3, own);
}

std::vector<int64_t> missing(const std::string& of, const std::string& in) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < of.size(); ++i) {
    if (in.find(of[i]) == std::string::npos) dims.push_back(static_cast<int64_t>(i));
  }
  return dims;
}

double smallest_step(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return std::ldexp(1.0, -7);
    case DType::kF16:
      return std::ldexp(1.0, -10);
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

Tensor held(Tensor x, double low, double high) { return minimum(maximum(x, low), high); }

Quantized binary(Tensor x, const std::vector<int64_t>& over, std::string_view method) {
  if (method == "bin_norm") x = x - reduce_mean(x, over, Reduced::kKept);
  x = select(eq(x, 0.0), 1e-6, x);
  const Tensor scale = reduce_mean(abs(x), over, Reduced::kKept);
  return {.values = pass_through(x, sign), .scale = scale, .zero_point = {}};
}

}  // namespace

ProductEquation::ProductEquation(std::string_view equation, int64_t lhs_rank, int64_t rhs_rank) {
  std::string compact(equation);
  std::erase(compact, ' ');
  const size_t comma = compact.find(','), arrow = compact.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma) {
    fail<ConfigError>("equation \"{}\" must be \"lhs,rhs->out\"", equation);
  }
  lhs = compact.substr(0, comma);
  rhs = compact.substr(comma + 1, arrow - comma - 1);
  out = compact.substr(arrow + 2);
  int64_t dots = 0;
  if (lhs.find('.') != std::string::npos) dots = lhs_rank - static_cast<int64_t>(lhs.size()) + 3;
  if (rhs.find('.') != std::string::npos) dots = rhs_rank - static_cast<int64_t>(rhs.size()) + 3;
  for (std::string* part : {&lhs, &rhs, &out}) *part = without_dots(*part, dots, equation);
}

std::vector<int64_t> ProductEquation::contracted_lhs() const { return missing(lhs, out); }
std::vector<int64_t> ProductEquation::contracted_rhs() const { return missing(rhs, out); }

Tensor Quantized::dequantized() const {
  const Tensor x = convert(values, scale.dtype()) * scale;
  return zero_point ? x - zero_point : x;
}

Shape in_blocks(const Shape& shape, int64_t dim, int64_t blocks) {
  Shape split;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i == dim) split.push_back(blocks);
    split.push_back(i == dim ? shape[i] / blocks : shape[i]);
  }
  return split;
}

std::pair<double, double> integer_range(int64_t bits, bool is_unsigned) {
  const auto width = static_cast<int>(bits);
  if (is_unsigned) return {0.0, std::ldexp(1.0, width) - 1};
  return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1};
}

Tensor pass_through(Tensor x, Tensor (*fn)(Tensor)) { return x - stop_gradient(x) + stop_gradient(fn(x)); }

Quantized round_to_bits(Tensor x, const std::vector<int64_t>& over, const RoundingOptions& options) {
  if (options.bits == 1 && options.method != "default") return binary(x, over, options.method);
  const auto [low, high] = integer_range(options.bits, false);
  const Tensor least = options.symmetric ? Tensor() : reduce_min(x, over, Reduced::kKept);
  Tensor bound =
      options.symmetric ? reduce_max(abs(x), over, Reduced::kKept) : reduce_max(x, over, Reduced::kKept) - least;
  if (options.percentile < 1.0) bound = bound * options.percentile;
  Tensor scale = bound / (options.symmetric ? high : high - low);
  scale = select(eq(scale, 0.0), 1.0, scale);
  Quantized out{.values = x / scale, .scale = scale, .zero_point = {}};
  if (least) {
    const Tensor zero = low - least / scale;
    out.values = out.values + zero;
    out.zero_point = scale * zero;
  }
  if (options.gradient == RoundingOptions::Gradient::kStraightThrough) {
    out.values = held(pass_through(out.values, round_nearest_even), low, high);
  } else {
    const DType container = options.bits <= 8 ? DType::kS8 : options.bits <= 16 ? DType::kS16 : DType::kS32;
    out.values = convert(held(round_nearest_even(out.values), low, high), container);
  }
  return out;
}

Tensor pack_4bit(Tensor x, int64_t dim, DType container) {
  const int64_t each = container == DType::kS32 ? 8 : 2;
  const Shape split = in_blocks(x.shape(), dim, x.dim(dim) / each);
  Tensor wide = reshape(logical_and(convert(x, container), full(x.graph(), {container, {}}, 15.0)), split);
  const Tensor place = iota(x.graph(), {container, split}, dim + 1) * full(x.graph(), {container, {}}, 4.0);
  wide = shift_left(wide, place);
  return reduce_sum(wide, {dim + 1});
}

Tensor unpack_4bit(Tensor packed, int64_t dim) {
  const DType container = packed.dtype();
  const int64_t each = container == DType::kS32 ? 8 : 2;
  Shape unpacked = packed.shape();
  unpacked[dim] *= each;
  const Shape split = in_blocks(unpacked, dim, packed.dim(dim));
  // The number moves to the top of the element and down again, which copies its sign.
  const double top = static_cast<double>(4 * (each - 1));
  const Tensor place = iota(packed.graph(), {container, split}, dim + 1);
  const Tensor up = full_like(place, top) - place * full_like(place, 4.0);
  const Tensor moved = shift_left(broadcast_to(expand_dims(packed, dim + 1), split), up);
  return convert(merge_dims(shift_right_arithmetic(moved, full_like(moved, top)), dim, dim + 1), DType::kS8);
}

namespace {

struct ScaleAndLeast {
  Tensor scale, least;
};

ScaleAndLeast aqt_scale(Tensor x, const std::vector<int64_t>& over, const AqtOptions& options,
                        std::optional<double> clipping) {
  const auto [low, high] = integer_range(*options.bits, options.unsigned_bounds);
  Tensor least = options.symmetric ? Tensor() : reduce_min(x, over, Reduced::kKept);
  Tensor bound =
      options.symmetric ? reduce_max(abs(x), over, Reduced::kKept) : reduce_max(x, over, Reduced::kKept) - least;
  if (clipping) {
    bound = bound * *clipping;
    if (least) least = least * *clipping;
  }
  Tensor scale = bound / (options.symmetric ? high : high - low);
  if (options.stop_scale_gradient) scale = stop_gradient(scale);
  scale = options.add_scale_eps ? scale + smallest_step(x.dtype()) : select(eq(scale, 0.0), 1.0, scale);
  return {scale, least};
}

Quantized aqt_round(Tensor x, const ScaleAndLeast& by, const AqtOptions& options) {
  const auto [low, high] = integer_range(*options.bits, options.unsigned_bounds);
  Quantized out{.values = x / by.scale, .scale = by.scale, .zero_point = {}};
  if (by.least) {
    const Tensor zero = low - by.least / by.scale;
    out.values = out.values + zero;
    out.zero_point = by.scale * zero;
  }
  out.values = held(pass_through(out.values + 0.5, floor), low, high);
  return out;
}

/// The scale of those tried that rounds with the smallest error.
ScaleAndLeast best_aqt_scale(Tensor x, const std::vector<int64_t>& over, const AqtOptions& options) {
  ScaleAndLeast best;
  Tensor smallest;
  const int64_t tries = options.num_optimize_clipping;
  for (int64_t i = 0; i < tries; ++i) {
    const double share = tries == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(tries - 1);
    const auto clipping = static_cast<double>(static_cast<float>(1.0 + share * (*options.min_clipping - 1.0)));
    const ScaleAndLeast tried = aqt_scale(x, over, options, clipping);
    const Tensor wrong = abs(x - aqt_round(x, tried, options).dequantized());
    const Tensor error = options.per_channel_clipping ? reduce_sum(wrong, over, Reduced::kKept) : reduce_sum(wrong);
    if (!smallest) {
      best = tried;
      smallest = error;
      continue;
    }
    const Tensor better = lt(error, smallest);
    best.scale = select(better, tried.scale, best.scale);
    if (best.least) best.least = select(better, tried.least, best.least);
    smallest = select(better, error, smallest);
  }
  return best;
}

}  // namespace

Quantized round_aqt(Tensor x, const std::vector<int64_t>& over, const AqtOptions& options) {
  if (!options.bits) {
    Shape ones = x.shape();
    for (int64_t i = 0; i < ones.rank(); ++i) ones[i] = 1;
    return {.values = x, .scale = full(x.graph(), {x.dtype(), ones}, 1.0), .zero_point = {}};
  }
  const ScaleAndLeast by = options.num_optimize_clipping > 0 ? best_aqt_scale(x, over, options)
                                                             : aqt_scale(x, over, options, options.clipping);
  return aqt_round(x, by, options);
}

}  // namespace pax
