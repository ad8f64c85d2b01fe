#include "tests/golden/optim_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/yaml.h"
#include "pax/ops/broadcast.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/optim/learner.h"
#include "pax/optim/static_accumulator.h"
#include "tests/golden/recorded_values.h"

namespace pax::golden {
namespace {

const std::string kCount = "opt_states_0/count";

std::string params(std::string_view variable) { return "params/" + std::string(variable); }

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Our name of recorded state `path` (`raw/0/mu/w`, `ema/ema/w`): a chain's places are left out.
std::string state_name(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string& part : split(path, '/')) {
    if (!is_number(part)) parts.push_back(part);
  }
  if (parts.size() > 2 && parts[0] == "ema") parts.erase(parts.begin());
  const std::string variable = parts.back();
  parts.pop_back();
  return "opt_states_0/" + join(parts, "/") + "/" + params(variable);
}

/// One update of a learner as a program, and the variables it is about.
class LearnerProgram {
 public:
  LearnerProgram(const Learner& learner, const RecordedCase& recorded) : recorded_(recorded) {
    declare_variables();
    Tree<Tensor> grads, states;
    for (const Param& param : params_) {
      const std::string name = param.state_name();
      grads[name] = graph_.argument("grad/" + name, param.value.type());
    }
    for (StateSpec& spec : learner.state_specs(params_)) {
      states[spec.name] = graph_.argument(spec.name, spec.type);
      specs_.push_back(std::move(spec));
    }
    Tree<Tensor> unused;
    const ScaledGradients scaled = learner.scale_gradients(grads, unused);
    for (const auto& [name, grad] : scaled.grads) graph_.output("scaled/" + name, grad);
    const Tensor always = full(graph_, {DType::kPred, {}}, 1);
    graph_.output("valid", convert(scaled.valid_step ? scaled.valid_step : always, DType::kS32));
    const LearnerResult result = learner.apply(params_, grads, states);
    for (const auto& [name, weight] : result.weights) graph_.output(name, weight);
    for (const auto& [name, update] : result.updates) graph_.output("update/" + name, update);
    for (const auto& [name, state] : result.states) graph_.output(name, state);
  }

  Graph& graph() { return graph_; }
  const std::deque<Param>& params() const { return params_; }
  const std::vector<StateSpec>& specs() const { return specs_; }

 private:
  void declare_variables() {
    std::set<std::string> skipped;
    if (const config::Value* list = recorded_.find("skip_lp_regularization")) {
      for (const config::Value& item : list->items) skipped.insert(item.text);
    }
    const config::Value* prefixes = recorded_.find("repeat_prefix");
    for (const auto& [name, array] : recorded_.tensors) {
      if (!name.starts_with("w0/")) continue;
      Param param{.path = name.substr(3)};
      const config::Value* prefix = prefixes != nullptr ? prefixes->find(param.path) : nullptr;
      const auto stacked = static_cast<size_t>(prefix != nullptr ? prefix->integer : 0);
      const auto dims = array.shape().dims();
      param.spec.shape = Shape(dims.subspan(stacked));
      param.spec.repeat_prefix.assign(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(stacked));
      param.spec.dtype = array.dtype();
      param.spec.init = WeightInit{};
      param.spec.tags.skip_lp_regularization = skipped.contains(param.path);
      param.value = graph_.argument(param.state_name(), array.type());
      params_.push_back(std::move(param));
    }
  }

  const RecordedCase& recorded_;
  Graph graph_;
  std::deque<Param> params_;
  std::vector<StateSpec> specs_;
};

/// The steps of a recorded run. The first difference becomes the case's message.
class Run {
 public:
  Run(const RecordedCase& recorded, const Learner& learner, int64_t sub_batches, const Context& context)
      : recorded_(recorded),
        program_(learner, recorded),
        compiled_(program_.graph(), context),
        sub_batches_(sub_batches),
        tolerance_(tolerance_of(recorded, "out")) {}

  std::string operator()() {
    start();
    const std::string initial = compare_states(0);
    if (!initial.empty()) return initial;
    const int64_t steps = recorded_.at("steps").integer;
    for (int64_t n = 1; n <= steps; ++n) {
      take_recorded_state(n - 1);
      for (const Param& param : program_.params()) {
        state_["grad/" + param.state_name()] = tensor(fmt::format("grad/{}/{}", n, param.path));
      }
      HostTree results = compiled_.run(state_);
      const std::string differs = compare_results(n, results);
      if (!differs.empty()) return differs;
      for (auto& [name, value] : results) {
        if (state_.contains(name)) state_[name] = std::move(value);
      }
      const std::string states_differ = compare_states(n);
      if (!states_differ.empty()) return states_differ;
    }
    return "";
  }

 private:
  const HostArray& tensor(const std::string& name) const {
    const HostArray* found = recorded_.tensor(name);
    if (found == nullptr) fail<RuntimeError>("{} is not recorded", name);
    return *found;
  }

  void start() {
    for (const Param& param : program_.params()) state_[param.state_name()] = tensor("w0/" + param.path);
    for (const StateSpec& spec : program_.specs()) {
      if (spec.init_from.empty()) {
        const std::vector<double> values(static_cast<size_t>(spec.type.shape.num_elements()), spec.init);
        state_[spec.name] = from_doubles(values, spec.type);
      } else {
        state_[spec.name] = state_.at(spec.init_from);
      }
    }
  }

  /// Each step is compared by itself: it begins where the recorded one began, as far as that is known.
  void take_recorded_state(int64_t n) {
    for (const Param& param : program_.params()) {
      const std::string name = n == 0 ? "w0/" + param.path : fmt::format("w/{}/{}", n, param.path);
      state_[param.state_name()] = tensor(name);
    }
    for_each_recorded_state(n, [&](const std::string& path, const HostArray& array) {
      const auto at = state_.find(state_name(path));
      if (at != state_.end() && at->second.shape() == array.shape()) {
        at->second = array.converted(at->second.dtype());
      }
    });
  }

  template <class Visit>
  void for_each_recorded_state(int64_t n, Visit visit) const {
    const std::string prefix = fmt::format("state/{}/", n);
    for (const auto& [name, array] : recorded_.tensors) {
      if (name.starts_with(prefix) && !name.ends_with("/count")) visit(name.substr(prefix.size()), array);
    }
  }

  std::string compare_results(int64_t n, const HostTree& results) const {
    for (const Param& param : program_.params()) {
      const std::string name = param.state_name();
      for (const auto& [kind, ours] :
           {std::pair{"scaled", "scaled/" + name}, {"update", "update/" + name}, {"w", name}}) {
        const HostArray* expected = recorded_.tensor(fmt::format("{}/{}/{}", kind, n, param.path));
        if (expected == nullptr) continue;
        std::string differs =
            compare(fmt::format("{}/{}/{}", kind, n, param.path), results.at(ours), *expected, tolerance_);
        if (!differs.empty()) return differs;
      }
    }
    const HostArray* valid = recorded_.tensor(fmt::format("valid/{}", n));
    return valid == nullptr ? "" : compare(fmt::format("valid/{}", n), results.at("valid"), *valid, {});
  }

  std::string compare_states(int64_t n) const {
    std::string first;
    for_each_recorded_state(n, [&](const std::string& path, const HostArray& expected) {
      if (first.empty()) first = compare_state(fmt::format("state/{}/{}", n, path), state_name(path), expected);
    });
    return first.empty() ? compare_counts(n) : first;
  }

  std::string compare_state(const std::string& name, const std::string& ours, const HostArray& expected) const {
    const auto at = state_.find(ours);
    if (at == state_.end()) {
      const bool unused = expected.shape() == Shape{1} && expected.to_doubles()[0] == 0;
      return unused ? "" : name + " is not kept";
    }
    // A quantum more or less is a matter of rounding.
    const bool quantized = is_integer(expected.dtype());
    return compare(name, at->second.converted(DType::kF32), expected.converted(DType::kF32),
                   quantized ? Tolerance{0, 1} : tolerance_);
  }

  /// One count stands for all of a chain's; a gradient accumulator's own are its remainder and quotient.
  std::string compare_counts(int64_t n) const {
    const auto count = static_cast<int64_t>(state_.at(kCount).item());
    const std::string prefix = fmt::format("state/{}/", n);
    for (const auto& [name, array] : recorded_.tensors) {
      if (!name.starts_with(prefix) || !name.ends_with("/count")) continue;
      int64_t ours = count;
      if (sub_batches_ > 1 && name == prefix + "raw/count") ours = count % sub_batches_;
      if (name.find("/base_state/") != std::string::npos) ours = count / sub_batches_;
      if (static_cast<int64_t>(array.item()) != ours)
        return fmt::format("{} is {} but {} is expected", name, ours, array.item());
    }
    return "";
  }

  const RecordedCase& recorded_;
  LearnerProgram program_;
  GraphProgram compiled_;
  int64_t sub_batches_;
  Tolerance tolerance_;
  HostTree state_;
};

int64_t sub_batches_of(const Tpl<Optimizer>& optimizer) {
  const auto* accumulator = optimizer.as<StaticAccumulator::Config>();
  return accumulator != nullptr ? accumulator->num_sub_batches : 1;
}

}  // namespace

std::string run_schedule_case(const RecordedCase& recorded, const Context& context) {
  const auto schedule = config::parse<Schedule>(recorded.at("config"), context.registry).build();
  const HostArray* steps = recorded.tensor("in/step");
  const HostArray* expected = recorded.tensor("out/value");
  if (steps == nullptr || expected == nullptr) return "in/step or out/value is not recorded";
  const HostArray counts = steps->converted(DType::kS32);
  Graph graph;
  const Tensor value = schedule->value(graph.argument("step", counts.type()));
  graph.output("value", broadcast_to(value, counts.shape()));
  const Tolerance tolerance = tolerance_of(recorded, "out");
  const HostArray traced = run_graph(graph, {{"step", counts}}, context).at("value");
  const std::string differs = compare("out/value", traced, *expected, tolerance);
  if (!differs.empty()) return differs;
  std::vector<double> on_host;
  for (const double step : counts.to_doubles()) on_host.push_back(schedule->value_at(static_cast<int64_t>(step)));
  return compare("out/value on the host", from_doubles(on_host, expected->type()), *expected, tolerance);
}

std::string run_optimizer_case(const RecordedCase& recorded, const Context& context) {
  Learner::Config config;
  config.optimizer = config::parse<Optimizer>(recorded.at("config"), context.registry);
  // What is recorded is the optimizer alone.
  config.check_valid_step = false;
  config.vectorize_on_repeat_prefix = false;
  config.optimizer.set("clip_gradient_norm_to_value", 0.0);
  config.optimizer.set("clip_gradient_single_norm_to_value", 0.0);
  return Run(recorded, Learner(config), sub_batches_of(config.optimizer), context)();
}

std::string run_learner_case(const RecordedCase& recorded, const Context& context) {
  const auto tpl = config::parse<Learner>(recorded.at("config"), context.registry);
  return Run(recorded, *tpl.build(), sub_batches_of(tpl.get<Tpl<Optimizer>>("optimizer")), context)();
}

}  // namespace pax::golden
