#pragma once

#include "pax/ir/op.h"

namespace pax {

/// `x` in another element type: floats round to nearest even, to integers towards zero, to bool whether not 0.
/// Returns `x` itself when it has the type. The gradient is converted back; integers have none.
Tensor convert(Tensor x, DType dtype);

/// The same bits read as another element type of the same width; no gradient.
Tensor bitcast_convert(Tensor x, DType dtype);

/// `x` rounded as a float of so many bits would be, in its own type.
Tensor reduce_precision(Tensor x, int64_t exponent_bits, int64_t mantissa_bits);

}  // namespace pax
