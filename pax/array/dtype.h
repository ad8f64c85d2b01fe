#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace pax {

/// Element types, named as StableHLO spells them in capitals.
enum class DType : uint8_t {
  kPred,
  kS4,
  kS8,
  kS16,
  kS32,
  kS64,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kF8E4M3FN,
  kF8E5M2,
  kBF16,
  kF16,
  kF32,
  kF64
};

/// Bytes of one element in a HostArray (4-bit types are held one to a byte).
size_t byte_size(DType dtype);

/// "float32", "bfloat16", "bool": the name in configs, checkpoints and NumPy.
std::string_view dtype_name(DType dtype);

/// "f32", "bf16", "i1", "ui32": the spelling in a StableHLO program.
std::string_view mlir_name(DType dtype);

/// Accepts both spellings; nothing when neither is known.
std::optional<DType> parse_dtype(std::string_view name);

/// Every name with its dtype, the canonical name of each first: DType as a member of configs.
std::span<const std::pair<DType, std::string_view>> enum_names(DType);

bool is_floating(DType dtype);
bool is_integer(DType dtype);
bool is_signed(DType dtype);

/// Largest finite value of a floating type.
double max_finite(DType dtype);

/// A bfloat16 as bits, so that host arrays can hold it.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  /// Rounds to nearest even; NaN stays NaN.
  explicit BFloat16(float value);
  operator float() const;
};

/// The DType of a C++ element type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kPred;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::kS8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::kS16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kS32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kS64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kU8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::kU16;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::kU32;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::kU64;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBF16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kF64;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace pax
