#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pax/optim/schedule.h"

// The schedules of praxis/schedules.py without those that ramp up first (pax/optim/ramp_schedules.h).

namespace pax {

/// (update, value).
using SchedulePoint = std::array<double, 2>;

/// Always `value`.
class ConstantSchedule final : public Schedule {
 public:
  struct Config {
    using Product = ConstantSchedule;
    static constexpr std::string_view kName = "praxis.schedules.Constant";
    double value = 1.0;
    static void fields(auto& self, auto&& visit) { visit("value", self.value); }
  };
  explicit ConstantSchedule(const Config& config) : config_(config) {}
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<ConstantSchedule::Config>();

/// From `start` to `limit` along a polynomial, constant before and after.
class PolynomialSchedule : public Schedule {
 public:
  struct Config {
    using Product = PolynomialSchedule;
    static constexpr std::string_view kName = "praxis.schedules.Polynomial";
    double power = 1;
    SchedulePoint start{0, 1.0};
    SchedulePoint limit{1, 1.0};
    std::string origin = "start";
    static void fields(auto& self, auto&& visit) {
      visit("power", self.power);
      visit("start", self.start, "[update, value]");
      visit("limit", self.limit, "[update, value]");
      visit("origin", self.origin, "Which end is flat: start or limit.");
    }
    void validate(config::Errors& errors) const;
  };
  explicit PolynomialSchedule(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<PolynomialSchedule::Config>();

/// From `start` to `limit` along a line.
class LinearSchedule final : public PolynomialSchedule {
 public:
  struct Config : PolynomialSchedule::Config {
    using Product = LinearSchedule;
    static constexpr std::string_view kName = "praxis.schedules.Linear";
  };
  explicit LinearSchedule(const Config& config) : PolynomialSchedule(config) {}
};
extern template const config::ConfigType& config::type_of<LinearSchedule::Config>();

/// From `start` to `limit` by equal factors; both values above 0.
class ExponentialSchedule final : public Schedule {
 public:
  struct Config {
    using Product = ExponentialSchedule;
    static constexpr std::string_view kName = "praxis.schedules.Exponential";
    SchedulePoint start{0, 1.0};
    SchedulePoint limit{1, 0.5};
    static void fields(auto& self, auto&& visit) {
      visit("start", self.start, "[update, value]");
      visit("limit", self.limit, "[update, value]");
    }
    void validate(config::Errors& errors) const;
  };
  explicit ExponentialSchedule(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<ExponentialSchedule::Config>();

/// Half a cosine wave from `initial_value` to `final_value` within `total_steps`.
class CosineSchedule final : public Schedule {
 public:
  struct Config {
    using Product = CosineSchedule;
    static constexpr std::string_view kName = "praxis.schedules.Cosine";
    double initial_value = 1.0;
    double final_value = 0.0;
    int64_t total_steps = 0;
    static void fields(auto& self, auto&& visit) {
      visit("initial_value", self.initial_value);
      visit("final_value", self.final_value);
      visit("total_steps", self.total_steps, {.doc = "Updates until final_value is reached.", .min = 1});
    }
    void validate(config::Errors& errors) const;
  };
  explicit CosineSchedule(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<CosineSchedule::Config>();

/// Half a cosine wave from `start` to `limit`, constant before and after.
class DelayedCosineSchedule final : public Schedule {
 public:
  struct Config {
    using Product = DelayedCosineSchedule;
    static constexpr std::string_view kName = "praxis.schedules.DelayedCosine";
    SchedulePoint start{0, 1.0};
    SchedulePoint limit{1, 0.5};
    static void fields(auto& self, auto&& visit) {
      visit("start", self.start, "[update, value]");
      visit("limit", self.limit, "[update, value]");
    }
    void validate(config::Errors& errors) const;
  };
  explicit DelayedCosineSchedule(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<DelayedCosineSchedule::Config>();

/// `values[i]` up to `boundaries[i]`, then the last one. A value of 0 or less counts as none: the next one that is not
/// yet over takes its place, as in Praxis.
class PiecewiseConstantSchedule final : public Schedule {
 public:
  struct Config {
    using Product = PiecewiseConstantSchedule;
    static constexpr std::string_view kName = "praxis.schedules.PiecewiseConstant";
    std::vector<int64_t> boundaries;
    std::vector<double> values;
    static void fields(auto& self, auto&& visit) {
      visit("boundaries", self.boundaries);
      visit("values", self.values, "One more than boundaries.");
    }
    void validate(config::Errors& errors) const;
  };
  explicit PiecewiseConstantSchedule(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<PiecewiseConstantSchedule::Config>();

/// Up as the count, then down as its inverse root ("Attention is all you need", section 5.3).
class TransformerSchedule final : public Schedule {
 public:
  struct Config {
    using Product = TransformerSchedule;
    static constexpr std::string_view kName = "praxis.schedules.Transformer";
    int64_t warmup_steps = 4000;
    int64_t model_dim = 512;
    int64_t worker_replicas = 1;
    std::optional<int64_t> decay_end;
    static void fields(auto& self, auto&& visit) {
      visit("warmup_steps", self.warmup_steps, {.doc = "", .min = 1});
      visit("model_dim", self.model_dim, {.doc = "", .min = 1});
      visit("worker_replicas", self.worker_replicas, {.doc = "", .min = 1});
      visit("decay_end", self.decay_end, "Update from which the value stays.");
    }
  };
  explicit TransformerSchedule(const Config& config) : config_(config) {}
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<TransformerSchedule::Config>();

/// multiplier / sqrt(max(count - offset, decay_start)).
class SqrtDecaySchedule final : public Schedule {
 public:
  struct Config {
    using Product = SqrtDecaySchedule;
    static constexpr std::string_view kName = "praxis.schedules.SqrtDecay";
    int64_t decay_start = 10000;
    double multiplier = 1.0;
    double offset = 0.0;
    static void fields(auto& self, auto&& visit) {
      visit("decay_start", self.decay_start, {.doc = "Constant up to this update.", .min = 1});
      visit("multiplier", self.multiplier);
      visit("offset", self.offset);
    }
  };
  explicit SqrtDecaySchedule(const Config& config) : config_(config) {}
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<SqrtDecaySchedule::Config>();

/// initial_value, halved every `half_life_steps` after `start_step`, at least initial_value * min.
class ContinuousSchedule final : public Schedule {
 public:
  struct Config {
    using Product = ContinuousSchedule;
    static constexpr std::string_view kName = "praxis.schedules.ContinuousSchedule";
    double initial_value = 1.0;
    int64_t start_step = 400'000;
    int64_t half_life_steps = 100'000;
    double min = 0.01;
    static void fields(auto& self, auto&& visit) {
      visit("initial_value", self.initial_value);
      visit("start_step", self.start_step);
      visit("half_life_steps", self.half_life_steps, {.doc = "", .min = 1});
      visit("min", self.min, "Smallest share of initial_value, between 0 and 1.");
    }
    void validate(config::Errors& errors) const;
  };
  explicit ContinuousSchedule(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<ContinuousSchedule::Config>();

/// `schedules[i]` from `boundaries[i-1]` on, counting from there.
class PiecewiseSchedule final : public Schedule {
 public:
  struct Config {
    using Product = PiecewiseSchedule;
    static constexpr std::string_view kName = "praxis.schedules.PiecewiseSchedule";
    std::vector<int64_t> boundaries;
    std::vector<Tpl<Schedule>> schedules;
    static void fields(auto& self, auto&& visit) {
      visit("boundaries", self.boundaries);
      visit("schedules", self.schedules, "One more than boundaries.");
    }
    void validate(config::Errors& errors) const;
  };
  explicit PiecewiseSchedule(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const std::vector<int64_t> boundaries_;
  std::vector<std::shared_ptr<Schedule>> schedules_;
};
extern template const config::ConfigType& config::type_of<PiecewiseSchedule::Config>();

/// Each schedule in turn for its `steps`, again and again; all of them see the whole count.
class CycleSchedule final : public Schedule {
 public:
  struct Config {
    using Product = CycleSchedule;
    static constexpr std::string_view kName = "praxis.schedules.CycleSchedule";
    std::vector<Tpl<Schedule>> schedules;
    std::vector<int64_t> steps;
    static void fields(auto& self, auto&& visit) {
      visit("schedules", self.schedules);
      visit("steps", self.steps, {.doc = "Updates of each schedule.", .min = 1});
    }
    void validate(config::Errors& errors) const;
  };
  explicit CycleSchedule(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const std::vector<int64_t> steps_;
  std::vector<std::shared_ptr<Schedule>> schedules_;
};
extern template const config::ConfigType& config::type_of<CycleSchedule::Config>();

}  // namespace pax
