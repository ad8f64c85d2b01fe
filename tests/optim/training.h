#pragma once

#include "pax/optim/learner.h"
#include "pax/optim/schedules.h"
#include "pax/pjrt/executable.h"
#include "tests/ops/testing.h"

namespace pax {

/// A variable for tests: shape of one layer, and the layers that are stacked.
Param variable(std::string path, Shape shape, std::vector<int64_t> repeat_prefix = {});

/// A learner at work on some variables: takes steps with given gradients and keeps weights and states.
class Training {
 public:
  Training(const Learner& learner, std::vector<Param> params, const HostTree& weights);

  /// One step; `grads` by path, the same ones each time.
  void step(const HostTree& grads);

  std::vector<double> weight(std::string_view path) const {
    return values_.at("params/" + std::string(path)).to_doubles();
  }
  std::vector<double> state(std::string_view name) const {
    return values_.at("opt_states_0/" + std::string(name)).to_doubles();
  }
  double metric(std::string_view name) const { return metrics_.at(std::string(name)).item(); }
  const std::vector<StateSpec>& specs() const { return specs_; }
  const HostTree& values() const { return values_; }

 private:
  void compile(const HostTree& grads);

  const Learner& learner_;
  std::vector<Param> declared_;
  std::vector<StateSpec> specs_;
  HostTree values_;   ///< weights and states
  HostTree metrics_;  ///< of the last step
  std::vector<std::string> inputs_, outputs_;
  std::optional<LoadedExecutable> executable_;
};

/// `config` with a learning rate that stays.
template <class C>
C with_rate(C config, double rate) {
  config.learning_rate = rate;
  config.lr_schedule = ConstantSchedule::Config{};
  return config;
}

}  // namespace pax
