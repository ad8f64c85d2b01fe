#include "tests/golden/task_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pax/base/error.h"
#include "pax/config/yaml.h"
#include "pax/task/steps.h"
#include "tests/golden/recorded_values.h"

namespace pax::golden {
namespace {

constexpr std::string_view kCorrect = "fraction_of_correct_next_step_preds";

/// How far weights may drift: a few elements (a flipped sign, a rounding of int8) further than the others.
struct Drift {
  double atol, outliers, outlier_atol;
};

class TaskRun {
 public:
  TaskRun(const RecordedCase& recorded, const Context& context)
      : recorded_(recorded), context_(context), task_(read_task()), program_(trace_train_step(task_, batch_spec())) {}

  std::string operator()() {
    start();
    const GraphProgram step(*program_.graph, context_);
    for (int64_t n = 1; n <= recorded_.at("steps").integer; ++n) {
      for (const auto& [field, array] : batch(n)) state_["batch/" + field] = array;
      HostTree results = step.run(state_);
      const std::string differs = compare_scalars(n, results);
      if (!differs.empty()) return differs;
      for (auto& [name, value] : results) {
        if (state_.contains(name)) state_[name] = std::move(value);
      }
      for (const std::string kind : {"w", "ema"}) {
        std::string weights_differ = compare_weights(kind, n);
        if (!weights_differ.empty()) return weights_differ;
      }
    }
    return "";
  }

 private:
  SingleTask read_task() const {
    SingleTask task;
    config::update(config::Ref(task), recorded_.at("config"), context_.registry);
    return task;
  }

  HostTree batch(int64_t n) const {
    const std::string prefix = fmt::format("batch/{}/", n);
    HostTree out;
    for (const auto& [name, array] : recorded_.tensors) {
      if (name.starts_with(prefix)) out[name.substr(prefix.size())] = array;
    }
    return out;
  }

  data::BatchSpec batch_spec() const {
    data::BatchSpec spec;
    for (const auto& [field, array] : batch(1)) spec[field] = array.type();
    return spec;
  }

  const HostArray& tensor(const std::string& name) const {
    const HostArray* found = recorded_.tensor(name);
    if (found == nullptr) fail<RuntimeError>("{} is not recorded", name);
    return *found;
  }

  /// The recorded weights, and the first state of everything else.
  void start() {
    const std::shared_ptr<Learner> learner = task_.train.learner.build();
    state_["step"] = HostArray::scalar<int32_t>(0);
    for (const Param& param : program_.params) state_[param.state_name()] = tensor("w0/" + param.path);
    for (const StateSpec& spec : learner->state_specs(program_.params)) {
      if (!spec.init_from.empty()) {
        state_[spec.name] = state_.at(spec.init_from);
        continue;
      }
      const std::vector<double> values(static_cast<size_t>(spec.type.shape.num_elements()), spec.init);
      state_[spec.name] = from_doubles(values, spec.type);
    }
  }

  /// `tolerance/<of>`, or what it says for step `n`.
  const config::Value* tolerance(std::string_view of, int64_t n) const {
    const config::Value* found = recorded_.at("tolerance").find(of);
    return found != nullptr && found->is_map() ? found->find(std::to_string(n)) : found;
  }
  Tolerance scalar_tolerance(std::string_view of, int64_t n) const {
    const config::Value* pair = tolerance(of, n);
    if (pair == nullptr || !pair->is_list()) fail<RuntimeError>("tolerance/{} of step {} is not recorded", of, n);
    return {number_of(pair->items[0]), number_of(pair->items[1])};
  }

  std::string compare_scalars(int64_t n, const HostTree& results) const {
    const auto result = [&](const std::string& name) -> const HostArray& {
      const auto at = results.find(name);
      if (at == results.end()) fail<RuntimeError>("the step has no output {}", name);
      return at->second;
    };
    const Tolerance loss = scalar_tolerance("loss", n);
    const std::string of_step = std::to_string(n);
    std::string differs =
        compare("loss/" + of_step, result("metrics/total_loss/value"), tensor("loss/" + of_step), loss);
    if (differs.empty()) {
      differs = compare("grad_norm/" + of_step, result("learning/raw_grad_norm"), tensor("grad_norm/" + of_step),
                        scalar_tolerance("grad_norm", n));
    }
    if (differs.empty()) {
      differs = compare("lr/" + of_step, result("learning/lr"), tensor("lr/" + of_step), scalar_tolerance("lr", n));
    }
    const std::string prefix = fmt::format("metric/{}/", n);
    for (const auto& [name, expected] : recorded_.tensors) {
      if (!differs.empty() || !name.starts_with(prefix)) continue;
      const std::string metric = name.substr(prefix.size());
      Tolerance allowed = loss;
      if (metric == std::string(kCorrect) + "/value") {
        allowed.absolute = 1.000001 / tensor(fmt::format("{}{}/weight", prefix, kCorrect)).item();
      }
      differs = compare(name, result("metrics/" + metric), expected, allowed);
    }
    return differs;
  }

  /// Weights (`w`) or their averages (`ema`) after step `n`, all variables together.
  std::string compare_weights(const std::string& kind, int64_t n) const {
    const std::shared_ptr<Learner> learner = task_.train.learner.build();
    const config::Value* allowed = tolerance("w", n);
    size_t elements = 0, beyond = 0;
    double worst = 0;
    std::string worst_name;
    for (const Param& param : program_.params) {
      const HostArray* expected = recorded_.tensor(fmt::format("{}/{}/{}", kind, n, param.path));
      if (expected == nullptr) continue;
      const std::string ours = kind == "ema" ? learner->ema_name(param) : param.state_name();
      const std::vector<double> got = state_.at(ours).to_doubles(), wanted = expected->to_doubles();
      if (got.size() != wanted.size()) return fmt::format("{}/{}/{} has another shape", kind, n, param.path);
      const HostArray* left_out = recorded_.tensor("undetermined/" + param.path);
      const std::vector<double> skip = left_out != nullptr ? left_out->to_doubles() : std::vector<double>(got.size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (skip[i] != 0) continue;
        ++elements;
        const double difference = std::abs(got[i] - wanted[i]);
        if (!(difference <= number_of(*allowed->find("atol")))) ++beyond;
        if (!(difference <= worst)) {
          worst = difference;
          worst_name = param.path;
        }
      }
    }
    if (elements == 0) return "";
    const Drift drift{number_of(*allowed->find("atol")), number_of(*allowed->find("outliers")),
                      number_of(*allowed->find("outlier_atol"))};
    const double share = static_cast<double>(beyond) / static_cast<double>(elements);
    if (share <= drift.outliers && worst <= drift.outlier_atol) return "";
    return fmt::format("{}/{}: {} of {} elements are off by more than {}, the worst by {:.3g} in {}", kind, n, beyond,
                       elements, drift.atol, worst, worst_name);
  }

  const RecordedCase& recorded_;
  const Context& context_;
  SingleTask task_;
  TracedProgram program_;
  HostTree state_;
};

}  // namespace

std::string run_task_case(const RecordedCase& recorded, const Context& context) { return TaskRun(recorded, context)(); }

}  // namespace pax::golden
