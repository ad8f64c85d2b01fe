#pragma once

#include "pax/ir/op.h"

namespace pax {

/// Element by element. Two operands broadcast by NumPy's rule and must have one element type; a plain number takes
/// the element type of the other side.
Tensor add(Tensor a, Tensor b);
Tensor multiply(Tensor a, Tensor b);
Tensor negate(Tensor x);

/// e^x.
Tensor exp(Tensor x);

inline Tensor operator+(Tensor a, Tensor b) { return add(a, b); }
inline Tensor operator*(Tensor a, Tensor b) { return multiply(a, b); }
inline Tensor operator-(Tensor x) { return negate(x); }
Tensor operator+(Tensor a, double b);
Tensor operator*(Tensor a, double b);
inline Tensor operator+(double a, Tensor b) { return b + a; }
inline Tensor operator*(double a, Tensor b) { return b * a; }

}  // namespace pax
