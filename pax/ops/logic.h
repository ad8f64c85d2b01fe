#pragma once

#include "pax/ir/op.h"

namespace pax {

// Comparison, choice and bits, element by element; operands broadcast as in pax/ops/elementwise.h. No gradients but
// that of `select`.

/// bool; a comparison with NaN is false but for `ne`.
Tensor eq(Tensor a, Tensor b);
Tensor ne(Tensor a, Tensor b);
Tensor lt(Tensor a, Tensor b);
Tensor le(Tensor a, Tensor b);
Tensor gt(Tensor a, Tensor b);
Tensor ge(Tensor a, Tensor b);
Tensor eq(Tensor a, double b);
Tensor ne(Tensor a, double b);
Tensor lt(Tensor a, double b);
Tensor le(Tensor a, double b);
Tensor gt(Tensor a, double b);
Tensor ge(Tensor a, double b);

/// Neither NaN nor infinite.
Tensor is_finite(Tensor x);

/// `on_true` where `pred` (bool), else `on_false`; all three broadcast.
Tensor select(Tensor pred, Tensor on_true, Tensor on_false);
Tensor select(Tensor pred, Tensor on_true, double on_false);
Tensor select(Tensor pred, double on_true, Tensor on_false);

/// Of bool: logic; of integers: bit by bit.
Tensor logical_and(Tensor a, Tensor b);
Tensor logical_or(Tensor a, Tensor b);
Tensor logical_xor(Tensor a, Tensor b);
Tensor logical_not(Tensor x);

/// Integers only. `arithmetic` keeps the sign bit. Shifting by the width of the type or more gives 0 (or the sign).
Tensor shift_left(Tensor x, Tensor bits);
Tensor shift_right_logical(Tensor x, Tensor bits);
Tensor shift_right_arithmetic(Tensor x, Tensor bits);
Tensor population_count(Tensor x);
Tensor count_leading_zeros(Tensor x);

}  // namespace pax
