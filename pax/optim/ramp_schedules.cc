#include "pax/optim/ramp_schedules.h"

#include <fmt/format.h>

#include <algorithm>

#include "pax/ops/elementwise.h"
#include "pax/optim/checked.h"
#include "pax/optim/curves.h"

namespace pax {
namespace {

/// How a value falls: from (0, max) to (length, max * min_ratio).
using Fall = std::function<Tensor(Tensor count, std::array<double, 2> start, std::array<double, 2> limit)>;

/// `start_step` updates of 1, then up, level and down.
Tensor ramp(Tensor count, const RampConfig& config, const Fall& fall, int64_t start_step = 0) {
  const auto line = [](double from, double to, int64_t length) -> Curve {
    return [=](Tensor at) { return polynomial(at, {0, from}, {static_cast<double>(length), to}); };
  };
  std::vector<Curve> curves;
  std::vector<int64_t> boundaries;
  const auto until = [&](int64_t boundary, Curve curve) {
    curves.push_back(std::move(curve));
    boundaries.push_back(boundary);
  };
  if (start_step > 0) until(start_step, [](Tensor at) { return number(at, 1.0); });
  if (config.warmup_steps > 0) until(start_step + config.warmup_steps, line(0, config.max, config.warmup_steps));
  if (config.decay_start > config.warmup_steps) {
    until(start_step + config.decay_start, [&](Tensor at) { return number(at, config.max); });
  }
  curves.push_back([&](Tensor at) {
    const auto length = static_cast<double>(config.decay_end - config.decay_start);
    return fall(at, {0, config.max}, {length, config.max * config.min_ratio});
  });
  // The boundaries are absolute and each curve counts from its own.
  return join_curves(count, curves, boundaries);
}

}  // namespace

void RampConfig::validate(config::Errors& errors) const {
  if (decay_start < warmup_steps) {
    errors.add("decay_start", fmt::format("{} must not come before warmup_steps {}", decay_start, warmup_steps));
  }
  if (decay_end <= decay_start) {
    errors.add("decay_end", fmt::format("{} must come after decay_start {}", decay_end, decay_start));
  }
  if (!(max > 0)) errors.add("max", fmt::format("{} must be above 0", max));
}

LinearRampupPolynomialDecay::LinearRampupPolynomialDecay(const Config& config) : config_(checked(config)) {}

Tensor LinearRampupPolynomialDecay::value(Tensor count) const {
  return ramp(count, config_,
              [&](Tensor at, auto start, auto limit) { return polynomial(at, start, limit, config_.power); });
}

LinearRampupCosineDecay::LinearRampupCosineDecay(const Config& config) : config_(checked(config)) {}

Tensor LinearRampupCosineDecay::value(Tensor count) const {
  return ramp(count, config_, half_cosine, config_.start_step);
}

void LinearRampupExponentialDecay::Config::validate(config::Errors& errors) const {
  RampConfig::validate(errors);
  if (!(min_ratio > 0)) errors.add("min_ratio", fmt::format("{} must be above 0", min_ratio));
}

LinearRampupExponentialDecay::LinearRampupExponentialDecay(const Config& config) : config_(checked(config)) {}

Tensor LinearRampupExponentialDecay::value(Tensor count) const { return ramp(count, config_, exponential); }

void LinearRampupPiecewiseConstant::Config::validate(config::Errors& errors) const {
  if (boundaries.empty()) errors.add("boundaries", "is empty");
  if (boundaries.size() != values.size()) {
    errors.add("values", fmt::format("{} values for {} boundaries; give as many", values.size(), boundaries.size()));
  }
  if (!std::ranges::is_sorted(boundaries) || (!boundaries.empty() && boundaries.front() < 1)) {
    errors.add("boundaries", "must rise from 1 or more");
  }
}

LinearRampupPiecewiseConstant::LinearRampupPiecewiseConstant(const Config& config) : config_(checked(config)) {}

Tensor LinearRampupPiecewiseConstant::value(Tensor count) const {
  const int64_t peak_at = config_.boundaries.front();
  std::vector<int64_t> later;
  for (const int64_t boundary : std::span(config_.boundaries).subspan(1)) later.push_back(boundary - peak_at);
  const Curve rise = [&](Tensor at) {
    return polynomial(at, {0, 0}, {static_cast<double>(peak_at), config_.values.front()});
  };
  const Curve steps = [&](Tensor at) { return piecewise_constant(at, later, config_.values); };
  return join_curves(count, {rise, steps}, std::span(&peak_at, 1));
}

Tensor LinearRampupSqrtDecay::value(Tensor count) const {
  const auto warmup = static_cast<double>(config_.warmup_steps);
  const Tensor step = maximum(real(count), 1.0);
  return config_.peak * minimum(step / warmup, sqrt(warmup / step));
}

template const config::ConfigType& config::type_of<LinearRampupPolynomialDecay::Config>();
template const config::ConfigType& config::type_of<LinearRampupCosineDecay::Config>();
template const config::ConfigType& config::type_of<LinearRampupExponentialDecay::Config>();
template const config::ConfigType& config::type_of<LinearRampupPiecewiseConstant::Config>();
template const config::ConfigType& config::type_of<LinearRampupSqrtDecay::Config>();

}  // namespace pax
