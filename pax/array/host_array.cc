#include "pax/array/host_array.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "pax/base/error.h"

namespace pax {
namespace {

/// Arrays start on a cache line, so that plugins may use the bytes in place.
constexpr size_t kAlignment = 64;

std::shared_ptr<std::byte> allocate(size_t size) {
  const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded));
  if (memory == nullptr) fail<RuntimeError>("out of memory: {} bytes for a host array", size);
  return {memory, [](std::byte* p) { std::free(p); }};
}

/// Value of an 8-bit float with `mantissa` mantissa bits and exponent bias `bias`.
double small_float(uint8_t bits, int mantissa, int bias) {
  const int exponent_bits = 7 - mantissa;
  const int exponent = (bits >> mantissa) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << mantissa) - 1);
  const double sign = (bits & 0x80) != 0 ? -1.0 : 1.0;
  if (mantissa == 3 && (bits & 0x7f) == 0x7f) return NAN;
  if (mantissa == 2 && exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
  return sign * std::ldexp((1 << mantissa) + fraction, exponent - bias - mantissa);
}

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

uint16_t double_to_half(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0, -14)) return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const auto fraction = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));
  return sign | static_cast<uint16_t>(((exponent + 13) << 10) + fraction);
}

/// Calls `visit` with a null pointer of the C++ type that holds elements of `dtype`.
template <class Visit>
auto with_element_type(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kPred:
      return visit(static_cast<bool*>(nullptr));
    case DType::kS4:
    case DType::kS8:
      return visit(static_cast<int8_t*>(nullptr));
    case DType::kS16:
      return visit(static_cast<int16_t*>(nullptr));
    case DType::kS32:
      return visit(static_cast<int32_t*>(nullptr));
    case DType::kS64:
      return visit(static_cast<int64_t*>(nullptr));
    case DType::kU4:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
    case DType::kU8:
      return visit(static_cast<uint8_t*>(nullptr));
    case DType::kU16:
    case DType::kF16:
      return visit(static_cast<uint16_t*>(nullptr));
    case DType::kU32:
      return visit(static_cast<uint32_t*>(nullptr));
    case DType::kU64:
      return visit(static_cast<uint64_t*>(nullptr));
    case DType::kBF16:
      return visit(static_cast<BFloat16*>(nullptr));
    case DType::kF32:
      return visit(static_cast<float*>(nullptr));
    case DType::kF64:
      return visit(static_cast<double*>(nullptr));
  }
  fail<RuntimeError>("unknown element type {}", static_cast<int>(dtype));
}

double decode(DType dtype, const std::byte* at) {
  return with_element_type(dtype, [&](auto* null) -> double {
    std::remove_pointer_t<decltype(null)> element;
    std::memcpy(&element, at, sizeof(element));
    if constexpr (std::is_same_v<decltype(element), uint16_t>) {
      if (dtype == DType::kF16) return half_to_double(element);
    }
    if constexpr (std::is_same_v<decltype(element), uint8_t>) {
      if (dtype == DType::kF8E4M3FN) return small_float(element, 3, 7);
      if (dtype == DType::kF8E5M2) return small_float(element, 2, 15);
    }
    return static_cast<double>(element);
  });
}

void encode(DType dtype, double value, std::byte* at) {
  with_element_type(dtype, [&](auto* null) {
    using Element = std::remove_pointer_t<decltype(null)>;
    Element element{};
    if constexpr (std::is_same_v<Element, BFloat16>) {
      element = BFloat16(static_cast<float>(value));
    } else if constexpr (std::is_same_v<Element, bool>) {
      element = value != 0;
    } else {
      if (dtype == DType::kF8E4M3FN || dtype == DType::kF8E5M2) {
        fail<RuntimeError>("cannot convert to {} on the host; convert on the device", dtype_name(dtype));
      }
      element = static_cast<Element>(value);
      if constexpr (std::is_same_v<Element, uint16_t>) {
        if (dtype == DType::kF16) element = double_to_half(value);
      }
    }
    std::memcpy(at, &element, sizeof(element));
  });
}

}  // namespace

HostArray::HostArray(TensorType type) : type_(std::move(type)) {
  auto memory = allocate(size_bytes());
  std::memset(memory.get(), 0, size_bytes());
  bytes_ = std::move(memory);
}

HostArray::HostArray(TensorType type, std::shared_ptr<const std::byte> owner)
    : type_(std::move(type)), bytes_(std::move(owner)) {}

void HostArray::require_dtype(DType wanted) const {
  if (dtype() != wanted) {
    fail<RuntimeError>("array {} was read as {}", to_string(type_), dtype_name(wanted));
  }
}

std::vector<double> HostArray::to_doubles() const {
  std::vector<double> out(static_cast<size_t>(shape().num_elements()));
  const size_t step = byte_size(dtype());
  for (size_t i = 0; i < out.size(); ++i) out[i] = decode(dtype(), bytes_.get() + i * step);
  return out;
}

double HostArray::item() const {
  if (shape().num_elements() != 1) fail<RuntimeError>("array {} has more than one element", to_string(type_));
  return decode(dtype(), bytes_.get());
}

HostArray HostArray::converted(DType wanted) const {
  if (wanted == dtype()) return *this;
  return from_doubles(to_doubles(), TensorType{wanted, shape()});
}

HostArray HostArray::reshaped(Shape shape) const {
  if (shape.num_elements() != this->shape().num_elements()) {
    fail<RuntimeError>("cannot view {} as shape {}", to_string(type_), to_string(shape));
  }
  return HostArray(TensorType{dtype(), std::move(shape)}, bytes_);
}

HostArray from_doubles(std::span<const double> values, TensorType type) {
  if (static_cast<int64_t>(values.size()) != type.shape.num_elements()) {
    fail<RuntimeError>("{} values given for an array {}", values.size(), to_string(type));
  }
  HostArray array(std::move(type));
  const size_t step = byte_size(array.dtype());
  for (size_t i = 0; i < values.size(); ++i) encode(array.dtype(), values[i], array.mutable_bytes().data() + i * step);
  return array;
}

}  // namespace pax
