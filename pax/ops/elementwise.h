#pragma once

#include "pax/ir/op.h"

namespace pax {

// Element by element. Two operands broadcast by NumPy's rule and must have one element type; a plain number takes the
// element type of the other side. All throw ShapeError when the types do not fit. Rounding, comparison and logic:
// pax/ops/logic.h. Element types: pax/ops/convert.h.

Tensor add(Tensor a, Tensor b);
Tensor subtract(Tensor a, Tensor b);
Tensor multiply(Tensor a, Tensor b);
/// Integers divide towards zero.
Tensor divide(Tensor a, Tensor b);
/// The rest of `divide`: it has the sign of `a`.
Tensor remainder(Tensor a, Tensor b);
Tensor power(Tensor a, Tensor b);
Tensor power(Tensor a, double exponent);
/// The angle of the point (x, y).
Tensor atan2(Tensor y, Tensor x);
/// NaN if either is. The gradient goes half to each where they are equal.
Tensor maximum(Tensor a, Tensor b);
Tensor maximum(Tensor a, double b);
Tensor minimum(Tensor a, Tensor b);
Tensor minimum(Tensor a, double b);
/// `x` held between `low` and `high`; no gradient reaches `x` at or beyond them.
Tensor clamp(Tensor low, Tensor x, Tensor high);
Tensor clamp(double low, Tensor x, double high);

Tensor negate(Tensor x);
/// Gradient 0 at 0.
Tensor abs(Tensor x);
/// -1, 0 or 1; no gradient.
Tensor sign(Tensor x);
Tensor square(Tensor x);
Tensor reciprocal(Tensor x);

/// e^x.
Tensor exp(Tensor x);
/// e^x - 1, exact near 0.
Tensor expm1(Tensor x);
Tensor log(Tensor x);
/// log(1 + x), exact near 0.
Tensor log1p(Tensor x);
/// 1 / (1 + e^-x).
Tensor logistic(Tensor x);
Tensor tanh(Tensor x);
Tensor sqrt(Tensor x);
Tensor rsqrt(Tensor x);
Tensor cbrt(Tensor x);
Tensor sine(Tensor x);
Tensor cosine(Tensor x);
Tensor tan(Tensor x);

/// The error function, its complement and its inverse.
Tensor erf(Tensor x);
Tensor erfc(Tensor x);
Tensor erf_inv(Tensor x);
/// log |Γ(x)| and its derivative.
Tensor lgamma(Tensor x);
Tensor digamma(Tensor x);
/// log(1 + e^x) without overflow.
Tensor softplus(Tensor x);
/// log(e^a + e^b) without overflow.
Tensor logaddexp(Tensor a, Tensor b);

/// To a whole number; no gradient. `afz`: halves away from zero.
Tensor floor(Tensor x);
Tensor ceil(Tensor x);
Tensor round_nearest_even(Tensor x);
Tensor round_nearest_afz(Tensor x);

inline Tensor operator+(Tensor a, Tensor b) { return add(a, b); }
inline Tensor operator-(Tensor a, Tensor b) { return subtract(a, b); }
inline Tensor operator*(Tensor a, Tensor b) { return multiply(a, b); }
inline Tensor operator/(Tensor a, Tensor b) { return divide(a, b); }
inline Tensor operator-(Tensor x) { return negate(x); }
Tensor operator+(Tensor a, double b);
Tensor operator-(Tensor a, double b);
Tensor operator*(Tensor a, double b);
Tensor operator/(Tensor a, double b);
Tensor operator+(double a, Tensor b);
Tensor operator-(double a, Tensor b);
Tensor operator*(double a, Tensor b);
Tensor operator/(double a, Tensor b);

}  // namespace pax
