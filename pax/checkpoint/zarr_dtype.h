#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pax/array/dtype.h"

namespace pax {

/// NumPy's spelling in `.zarray`: "<f4", "|b1", "bfloat16" (TensorStore's for what NumPy lacks).
std::string zarr2_dtype(DType dtype);

/// The reverse, little-endian only; also accepts `dtype_name`s, which zarr v3 uses.
std::optional<DType> parse_zarr_dtype(std::string_view name);

}  // namespace pax
