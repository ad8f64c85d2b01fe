#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "pax/ir/tensor.h"

namespace pax {

// What schedules are made of: f32 scalars as functions of an update count (i32 scalar).

using Curve = std::function<Tensor(Tensor count)>;

/// `value` as an f32 scalar.
Tensor number(Tensor count, double value);
/// `count` in f32.
Tensor real(Tensor count);

enum class FlatEnd : uint8_t { kStart, kLimit };

/// From (x0, y0) to (x1, y1) along a polynomial that is flat at one end; constant outside.
Tensor polynomial(Tensor count, std::array<double, 2> start, std::array<double, 2> limit, double power = 1,
                  FlatEnd flat = FlatEnd::kStart);
/// The same by equal factors; y0 and y1 above 0.
Tensor exponential(Tensor count, std::array<double, 2> start, std::array<double, 2> limit);
/// The same along half a cosine wave.
Tensor half_cosine(Tensor count, std::array<double, 2> start, std::array<double, 2> limit);
/// See PiecewiseConstantSchedule.
Tensor piecewise_constant(Tensor count, std::span<const int64_t> boundaries, std::span<const double> values);

/// `curves[i]` from `boundaries[i-1]` on, counting from there (optax.join_schedules).
Tensor join_curves(Tensor count, const std::vector<Curve>& curves, std::span<const int64_t> boundaries);

}  // namespace pax
