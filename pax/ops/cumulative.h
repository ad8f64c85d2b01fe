#pragma once

#include "pax/ir/op.h"

namespace pax {

// Running results along `dim`: element i combines elements 0 … i, or i … last when the direction is reverse.

enum class Direction : uint8_t { kForward, kReverse };

Tensor cumsum(Tensor x, int64_t dim, Direction direction = Direction::kForward);
Tensor cumprod(Tensor x, int64_t dim, Direction direction = Direction::kForward);
Tensor cummax(Tensor x, int64_t dim, Direction direction = Direction::kForward);
Tensor cummin(Tensor x, int64_t dim, Direction direction = Direction::kForward);
/// log of the running sum of e^x.
Tensor cumlogsumexp(Tensor x, int64_t dim, Direction direction = Direction::kForward);

}  // namespace pax
