#include "pax/array/dtype.h"

#include <array>
#include <bit>
#include <limits>

namespace pax {
namespace {

enum class Kind : uint8_t { kBool, kSigned, kUnsigned, kFloat };

struct Row {
  std::string_view name;
  std::string_view mlir;
  uint8_t bytes;
  Kind kind;
  double max_finite;
};

constexpr Row kRows[] = {
    {"bool", "i1", 1, Kind::kBool, 1},
    {"int4", "i4", 1, Kind::kSigned, 7},
    {"int8", "i8", 1, Kind::kSigned, 127},
    {"int16", "i16", 2, Kind::kSigned, 32767},
    {"int32", "i32", 4, Kind::kSigned, 2147483647.0},
    {"int64", "i64", 8, Kind::kSigned, 9223372036854775807.0},
    {"uint4", "ui4", 1, Kind::kUnsigned, 15},
    {"uint8", "ui8", 1, Kind::kUnsigned, 255},
    {"uint16", "ui16", 2, Kind::kUnsigned, 65535},
    {"uint32", "ui32", 4, Kind::kUnsigned, 4294967295.0},
    {"uint64", "ui64", 8, Kind::kUnsigned, 18446744073709551615.0},
    {"float8_e4m3fn", "f8E4M3FN", 1, Kind::kFloat, 448},
    {"float8_e5m2", "f8E5M2", 1, Kind::kFloat, 57344},
    {"bfloat16", "bf16", 2, Kind::kFloat, 3.3895313892515355e38},
    {"float16", "f16", 2, Kind::kFloat, 65504},
    {"float32", "f32", 4, Kind::kFloat, std::numeric_limits<float>::max()},
    {"float64", "f64", 8, Kind::kFloat, std::numeric_limits<double>::max()},
};

const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

size_t byte_size(DType dtype) { return row(dtype).bytes; }
std::string_view dtype_name(DType dtype) { return row(dtype).name; }
std::string_view mlir_name(DType dtype) { return row(dtype).mlir; }
bool is_floating(DType dtype) { return row(dtype).kind == Kind::kFloat; }
bool is_integer(DType dtype) { return row(dtype).kind == Kind::kSigned || row(dtype).kind == Kind::kUnsigned; }
bool is_signed(DType dtype) { return row(dtype).kind == Kind::kSigned || row(dtype).kind == Kind::kFloat; }
double max_finite(DType dtype) { return row(dtype).max_finite; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].name == name || kRows[i].mlir == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::span<const std::pair<DType, std::string_view>> enum_names(DType) {
  static const auto names = [] {
    std::array<std::pair<DType, std::string_view>, 2 * std::size(kRows)> out;
    for (size_t i = 0; i < std::size(kRows); ++i) {
      out[2 * i] = {static_cast<DType>(i), kRows[i].name};
      out[2 * i + 1] = {static_cast<DType>(i), kRows[i].mlir};
    }
    return out;
  }();
  return names;
}

BFloat16::BFloat16(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  const bool nan = (word & 0x7fffffff) > 0x7f800000;
  bits = nan ? static_cast<uint16_t>((word >> 16) | 0x40)
             : static_cast<uint16_t>((word + 0x7fff + ((word >> 16) & 1)) >> 16);
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace pax
