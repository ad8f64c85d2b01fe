#include "pax/checkpoint/zarr_dtype.h"

#include <fmt/format.h>

namespace pax {
namespace {

constexpr int kNumDTypes = static_cast<int>(DType::kF64) + 1;

}  // namespace

std::string zarr2_dtype(DType dtype) {
  const size_t bytes = byte_size(dtype);
  if (dtype == DType::kPred) return "|b1";
  const bool numpy_has_it =
      is_floating(dtype) ? bytes > 1 && dtype != DType::kBF16 : dtype != DType::kS4 && dtype != DType::kU4;
  if (!numpy_has_it) return std::string(dtype_name(dtype));
  const char kind = is_floating(dtype) ? 'f' : is_signed(dtype) ? 'i' : 'u';
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

std::optional<DType> parse_zarr_dtype(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string numpy = zarr2_dtype(dtype);
    if (name == dtype_name(dtype) || name == numpy) return dtype;
    if (numpy[0] == '|' && name == "<" + numpy.substr(1)) return dtype;  // one byte has no order
  }
  return std::nullopt;
}

}  // namespace pax
