#include "pax/optim/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/optim/checked.h"
#include "pax/optim/curves.h"

namespace pax {
namespace {

void require_in_order(config::Errors& errors, const SchedulePoint& start, const SchedulePoint& limit) {
  if (!(start[0] < limit[0])) {
    errors.add("limit", fmt::format("update {} must come after that of start, {}", limit[0], start[0]));
  }
}

void require_positive(config::Errors& errors, std::string_view name, double value) {
  if (!(value > 0)) errors.add(name, fmt::format("value {} must be above 0", value));
}

std::vector<std::shared_ptr<Schedule>> build_all(const std::vector<Tpl<Schedule>>& templates) {
  std::vector<std::shared_ptr<Schedule>> out;
  for (const Tpl<Schedule>& tpl : templates) out.push_back(tpl.build());
  return out;
}

}  // namespace

Tensor ConstantSchedule::value(Tensor count) const { return number(count, config_.value); }

void PolynomialSchedule::Config::validate(config::Errors& errors) const {
  require_in_order(errors, start, limit);
  if (origin != "start" && origin != "limit") {
    errors.add("origin", fmt::format("\"{}\" is neither start nor limit", origin));
  }
}

PolynomialSchedule::PolynomialSchedule(const Config& config) : config_(checked(config)) {}

Tensor PolynomialSchedule::value(Tensor count) const {
  return polynomial(count, config_.start, config_.limit, config_.power,
                    config_.origin == "start" ? FlatEnd::kStart : FlatEnd::kLimit);
}

void ExponentialSchedule::Config::validate(config::Errors& errors) const {
  require_in_order(errors, start, limit);
  require_positive(errors, "start", start[1]);
  require_positive(errors, "limit", limit[1]);
}

ExponentialSchedule::ExponentialSchedule(const Config& config) : config_(checked(config)) {}

Tensor ExponentialSchedule::value(Tensor count) const { return exponential(count, config_.start, config_.limit); }

void CosineSchedule::Config::validate(config::Errors& errors) const {
  if (total_steps < 1) errors.add("total_steps", fmt::format("{} must be at least 1", total_steps));
}

CosineSchedule::CosineSchedule(const Config& config) : config_(checked(config)) {}

Tensor CosineSchedule::value(Tensor count) const {
  return half_cosine(count, {0, config_.initial_value},
                     {static_cast<double>(config_.total_steps), config_.final_value});
}

void DelayedCosineSchedule::Config::validate(config::Errors& errors) const {
  require_in_order(errors, start, limit);
  require_positive(errors, "start", start[1]);
  if (!(limit[1] >= 0)) errors.add("limit", fmt::format("value {} must not be below 0", limit[1]));
}

DelayedCosineSchedule::DelayedCosineSchedule(const Config& config) : config_(checked(config)) {}

Tensor DelayedCosineSchedule::value(Tensor count) const { return half_cosine(count, config_.start, config_.limit); }

void PiecewiseConstantSchedule::Config::validate(config::Errors& errors) const {
  if (values.size() != boundaries.size() + 1) {
    errors.add("values", fmt::format("{} values for {} boundaries; give one more than boundaries", values.size(),
                                     boundaries.size()));
  }
  if (!std::ranges::is_sorted(boundaries)) errors.add("boundaries", "must rise");
}

PiecewiseConstantSchedule::PiecewiseConstantSchedule(const Config& config) : config_(checked(config)) {}

Tensor PiecewiseConstantSchedule::value(Tensor count) const {
  return piecewise_constant(count, config_.boundaries, config_.values);
}

Tensor TransformerSchedule::value(Tensor count) const {
  const auto warmup = static_cast<double>(config_.warmup_steps * config_.worker_replicas);
  Tensor step = real(count);
  if (config_.decay_end) step = minimum(step, static_cast<double>(*config_.decay_end));
  const Tensor next = step + 1.0;
  return std::pow(static_cast<double>(config_.model_dim), -0.5) * minimum(next * std::pow(warmup, -1.5), rsqrt(next));
}

Tensor SqrtDecaySchedule::value(Tensor count) const {
  return rsqrt(maximum(real(count) - config_.offset, static_cast<double>(config_.decay_start))) * config_.multiplier;
}

void ContinuousSchedule::Config::validate(config::Errors& errors) const {
  if (!(min > 0 && min < 1)) errors.add("min", fmt::format("{} must lie between 0 and 1", min));
}

ContinuousSchedule::ContinuousSchedule(const Config& config) : config_(checked(config)) {}

Tensor ContinuousSchedule::value(Tensor count) const {
  const auto start = static_cast<double>(config_.start_step);
  const double limit = start + static_cast<double>(config_.half_life_steps) * std::log(config_.min) / std::log(0.5);
  return config_.initial_value * exponential(count, {start, 1.0}, {limit, config_.min});
}

void PiecewiseSchedule::Config::validate(config::Errors& errors) const {
  if (schedules.size() != boundaries.size() + 1) {
    errors.add("schedules", fmt::format("{} schedules for {} boundaries; give one more than boundaries",
                                        schedules.size(), boundaries.size()));
  }
  if (!std::ranges::is_sorted(boundaries) || (!boundaries.empty() && boundaries.front() < 0)) {
    errors.add("boundaries", "must rise from 0");
  }
}

PiecewiseSchedule::PiecewiseSchedule(const Config& config)
    : boundaries_(checked(config).boundaries), schedules_(build_all(config.schedules)) {}

Tensor PiecewiseSchedule::value(Tensor count) const {
  std::vector<Curve> curves;
  for (const auto& schedule : schedules_) curves.push_back([&](Tensor at) { return schedule->value(at); });
  return join_curves(count, curves, boundaries_);
}

void CycleSchedule::Config::validate(config::Errors& errors) const {
  if (schedules.empty()) errors.add("schedules", "is empty");
  if (schedules.size() != steps.size()) {
    errors.add("steps", fmt::format("{} numbers for {} schedules", steps.size(), schedules.size()));
  }
  if (std::ranges::any_of(steps, [](int64_t n) { return n < 1; })) errors.add("steps", "must all be at least 1");
}

CycleSchedule::CycleSchedule(const Config& config)
    : steps_(checked(config).steps), schedules_(build_all(config.schedules)) {}

Tensor CycleSchedule::value(Tensor count) const {
  int64_t period = 0;
  for (const int64_t n : steps_) period += n;
  const Tensor at = remainder(count, full_like(count, static_cast<double>(period)));
  Tensor value = schedules_.front()->value(count);
  int64_t boundary = 0;
  for (size_t i = 1; i < schedules_.size(); ++i) {
    boundary += steps_[i - 1];
    value = select(lt(at, static_cast<double>(boundary)), value, schedules_[i]->value(count));
  }
  return value;
}

template const config::ConfigType& config::type_of<ConstantSchedule::Config>();
template const config::ConfigType& config::type_of<PolynomialSchedule::Config>();
template const config::ConfigType& config::type_of<LinearSchedule::Config>();
template const config::ConfigType& config::type_of<ExponentialSchedule::Config>();
template const config::ConfigType& config::type_of<CosineSchedule::Config>();
template const config::ConfigType& config::type_of<DelayedCosineSchedule::Config>();
template const config::ConfigType& config::type_of<PiecewiseConstantSchedule::Config>();
template const config::ConfigType& config::type_of<TransformerSchedule::Config>();
template const config::ConfigType& config::type_of<SqrtDecaySchedule::Config>();
template const config::ConfigType& config::type_of<ContinuousSchedule::Config>();
template const config::ConfigType& config::type_of<PiecewiseSchedule::Config>();
template const config::ConfigType& config::type_of<CycleSchedule::Config>();

}  // namespace pax
