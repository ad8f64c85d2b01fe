#pragma once

#include <vector>

#include "pax/optim/schedule.h"

// Schedules that rise from 0 on a line first. At update 0 they are 0.

namespace pax {

/// Members of the schedules that rise to `max`, stay there and fall to `max * min_ratio`.
struct RampConfig {
  int64_t warmup_steps = 0;
  int64_t decay_start = 0;
  int64_t decay_end = 0;
  double min_ratio = 0.01;
  double max = 0.0;
  static void fields(auto& self, auto&& visit) {
    visit("warmup_steps", self.warmup_steps, {.doc = "Update at which max is reached.", .min = 0});
    visit("decay_start", self.decay_start, {.doc = "Update from which the value falls.", .min = 0});
    visit("decay_end", self.decay_end, {.doc = "Update from which it is max * min_ratio.", .min = 0});
    visit("min_ratio", self.min_ratio);
    visit("max", self.max);
  }
  void validate(config::Errors& errors) const;
};

/// Falls along a polynomial.
class LinearRampupPolynomialDecay final : public Schedule {
 public:
  struct Config : RampConfig {
    using Product = LinearRampupPolynomialDecay;
    static constexpr std::string_view kName = "praxis.schedules.LinearRampupPolynomialDecay";
    double power = 1;
    static void fields(auto& self, auto&& visit) {
      RampConfig::fields(self, visit);
      visit("power", self.power);
    }
  };
  explicit LinearRampupPolynomialDecay(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<LinearRampupPolynomialDecay::Config>();

/// Falls along half a cosine wave. Before `start_step` it is 1; the other updates count from there.
class LinearRampupCosineDecay final : public Schedule {
 public:
  struct Config : RampConfig {
    using Product = LinearRampupCosineDecay;
    static constexpr std::string_view kName = "praxis.schedules.LinearRampupCosineDecay";
    int64_t start_step = 0;
    static void fields(auto& self, auto&& visit) {
      visit("start_step", self.start_step, {.doc = "Update at which the schedule begins.", .min = 0});
      RampConfig::fields(self, visit);
    }
  };
  explicit LinearRampupCosineDecay(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<LinearRampupCosineDecay::Config>();

/// Falls by equal factors.
class LinearRampupExponentialDecay final : public Schedule {
 public:
  struct Config : RampConfig {
    using Product = LinearRampupExponentialDecay;
    static constexpr std::string_view kName = "praxis.schedules.LinearRampupExponentialDecay";
    void validate(config::Errors& errors) const;
  };
  explicit LinearRampupExponentialDecay(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<LinearRampupExponentialDecay::Config>();

/// Rises to `values[0]` at `boundaries[0]`; `values[i]` from `boundaries[i]` to `boundaries[i+1]`.
class LinearRampupPiecewiseConstant final : public Schedule {
 public:
  struct Config {
    using Product = LinearRampupPiecewiseConstant;
    static constexpr std::string_view kName = "praxis.schedules.LinearRampupPiecewiseConstant";
    std::vector<int64_t> boundaries;
    std::vector<double> values;
    static void fields(auto& self, auto&& visit) {
      visit("boundaries", self.boundaries);
      visit("values", self.values, "As many as boundaries.");
    }
    void validate(config::Errors& errors) const;
  };
  explicit LinearRampupPiecewiseConstant(const Config& config);
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<LinearRampupPiecewiseConstant::Config>();

/// Rises to `peak`, then falls as the inverse root of the count.
class LinearRampupSqrtDecay final : public Schedule {
 public:
  struct Config {
    using Product = LinearRampupSqrtDecay;
    static constexpr std::string_view kName = "praxis.schedules.LinearRampupSqrtDecay";
    double peak = 1.0;
    int64_t warmup_steps = 4000;
    static void fields(auto& self, auto&& visit) {
      visit("peak", self.peak);
      visit("warmup_steps", self.warmup_steps, {.doc = "Update at which peak is reached.", .min = 1});
    }
  };
  explicit LinearRampupSqrtDecay(const Config& config) : config_(config) {}
  Tensor value(Tensor count) const override;

 private:
  const Config config_;
};
extern template const config::ConfigType& config::type_of<LinearRampupSqrtDecay::Config>();

}  // namespace pax
