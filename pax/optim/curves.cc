#include "pax/optim/curves.h"

#include <cmath>
#include <numbers>

#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"

namespace pax {

Tensor number(Tensor count, double value) { return full(count.graph(), {DType::kF32, {}}, value); }

Tensor real(Tensor count) { return convert(count, DType::kF32); }

Tensor polynomial(Tensor count, std::array<double, 2> start, std::array<double, 2> limit, double power_, FlatEnd flat) {
  const Tensor x = real(count);
  const auto [x0, y0] = start;
  const auto [x1, y1] = limit;
  const Tensor ratio = (x - x0) / (x1 - x0);
  const Tensor share = flat == FlatEnd::kStart ? power(ratio, power_) : 1.0 - power(1.0 - ratio, power_);
  const Tensor between = y0 + share * (y1 - y0);
  return select(lt(x, x0), y0, select(ge(x, x1), y1, between));
}

Tensor exponential(Tensor count, std::array<double, 2> start, std::array<double, 2> limit) {
  return exp(polynomial(count, {start[0], std::log(start[1])}, {limit[0], std::log(limit[1])}));
}

Tensor half_cosine(Tensor count, std::array<double, 2> start, std::array<double, 2> limit) {
  const Tensor angle = polynomial(count, {start[0], 0}, {limit[0], std::numbers::pi});
  return limit[1] + 0.5 * (start[1] - limit[1]) * (1.0 + cosine(angle));
}

Tensor piecewise_constant(Tensor count, std::span<const int64_t> boundaries, std::span<const double> values) {
  if (boundaries.empty()) return number(count, values.front());
  const Tensor x = real(count);
  Tensor value = number(count, 0);
  const auto take_where = [&](Tensor indicator, double next) {
    value = select(gt(value, 0.0), value, maximum(indicator, 0.0) * next);
  };
  for (size_t i = 0; i < boundaries.size(); ++i) {
    take_where(sign(static_cast<double>(boundaries[i]) - x), values[i]);
  }
  take_where(sign(1.0 + x - static_cast<double>(boundaries.back())), values.back());
  return value;
}

Tensor join_curves(Tensor count, const std::vector<Curve>& curves, std::span<const int64_t> boundaries) {
  Tensor value = curves.front()(count);
  for (size_t i = 0; i < boundaries.size(); ++i) {
    const auto boundary = static_cast<double>(boundaries[i]);
    value = select(lt(count, boundary), value, curves[i + 1](count - boundary));
  }
  return value;
}

}  // namespace pax
