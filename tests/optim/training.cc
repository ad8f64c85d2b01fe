#include "tests/optim/training.h"

#include "pax/ir/stablehlo.h"
#include "pax/ops/constant.h"
#include "tests/runtime/testing.h"

namespace pax {

Param variable(std::string path, Shape shape, std::vector<int64_t> repeat_prefix) {
  Param param{.path = std::move(path)};
  param.spec.shape = std::move(shape);
  param.spec.dtype = DType::kF32;
  param.spec.init = WeightInit{};
  param.spec.repeat_prefix = std::move(repeat_prefix);
  return param;
}

Training::Training(const Learner& learner, std::vector<Param> params, const HostTree& weights)
    : learner_(learner), declared_(std::move(params)) {
  Graph graph;
  std::deque<Param> deque(declared_.begin(), declared_.end());
  Tree<Tensor> first;
  for (Param& param : deque) {
    values_[param.state_name()] = weights.at(param.path);
    first[param.state_name()] = param.value = constant(graph, weights.at(param.path));
  }
  specs_ = learner.state_specs(deque);
  for (const StateSpec& spec : specs_) graph.output(spec.name, first_value(spec, graph, first));
  const std::vector<HostArray> states = run(graph, {});
  for (size_t i = 0; i < specs_.size(); ++i) values_[specs_[i].name] = states[i];
}

void Training::compile(const HostTree& grads) {
  Graph graph;
  const auto argument = [&](const std::string& name, const TensorType& type) {
    inputs_.push_back(name);
    return graph.argument(name, type);
  };
  std::deque<Param> params(declared_.begin(), declared_.end());
  Tree<Tensor> grad_tensors, states;
  for (Param& param : params) {
    const std::string name = param.state_name();
    param.value = argument(name, values_.at(name).type());
    if (grads.contains(param.path)) grad_tensors[name] = argument("grad/" + name, grads.at(param.path).type());
  }
  for (const StateSpec& spec : specs_) states[spec.name] = argument(spec.name, spec.type);
  const LearnerResult result = learner_.apply(params, grad_tensors, states);
  for (const Tree<Tensor>* tree : {&result.weights, &result.states, &result.metrics}) {
    for (const auto& [name, value] : *tree) {
      graph.output(name, value);
      outputs_.push_back(name);
    }
  }
  executable_ = default_client()->compile(to_stablehlo(*lower(graph, {})));
}

void Training::step(const HostTree& grads) {
  if (!executable_) compile(grads);
  for (const auto& [path, grad] : grads) values_["grad/params/" + path] = grad;
  BufferList arguments;
  for (const std::string& name : inputs_) arguments.push_back(default_client()->to_device(values_.at(name)));
  const BufferList results = executable_->execute(arguments);
  for (size_t i = 0; i < results.size(); ++i) {
    (values_.contains(outputs_[i]) ? values_ : metrics_)[outputs_[i]] = results[i].to_host();
  }
  std::erase_if(values_, [](const auto& entry) { return entry.first.starts_with("grad/"); });
}

}  // namespace pax
