#include "tests/golden/layer_cases.h"

#include "pax/autodiff/grad.h"
#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/config/yaml.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "tests/golden/compare.h"
#include "tests/golden/layer_call.h"
#include "tests/golden/recorded_values.h"

namespace pax::golden {
namespace {

constexpr std::string_view kParams = "params/", kState = "non_trainable/", kKey = "random_key";

/// What follows `prefix` in `name`, or nothing.
std::optional<std::string> after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return std::string(name.substr(prefix.size()));
}

/// Recorded tensors under the names that the program's arguments have.
HostTree program_arguments(const RecordedCase& recorded) {
  HostTree arguments;
  for (const auto& [name, array] : recorded.tensors) {
    if (const auto path = after(name, "w/")) arguments[std::string(kParams) + *path] = array;
    if (const auto path = after(name, "nw/")) arguments[std::string(kState) + *path] = array;
    if (name.starts_with("in/") || name.starts_with("cot/")) arguments[name] = array;
  }
  arguments[std::string(kKey)] = HostArray::of<uint32_t>({0, 7}, {2});
  return arguments;
}

Outputs call(const RecordedCase& recorded, const Context& context, ModelTrace& trace) {
  LayerCall call{recorded, trace.graph(), {}};
  for (const auto& [name, array] : recorded.tensors) {
    if (const auto input = after(name, "in/")) call.inputs[*input] = trace.graph().argument(name, array.type());
  }
  const config::Value& config = recorded.at("config");
  if (config.find("__class__") == nullptr) return call_function(recorded.text("layer"), call);
  const Tpl<Layer> tpl = config::parse<Layer>(config, context.registry);
  return call_layer(*tpl.build(Scope(trace)), call);
}

/// Adds what the layer left on the side: updated variables and auxiliary losses.
void add_side_results(Graph& graph, Outputs& outputs) {
  const SideResults sides = take_side_results(graph);
  for (const auto& update : sides.updates) {
    if (const auto path = after(update.name, kState)) outputs["updated/" + *path] = update.value;
  }
  for (const auto& loss : sides.aux_losses) {
    outputs["aux_loss/" + loss.path + "/value"] = loss.value;
    outputs["aux_loss/" + loss.path + "/weight"] = loss.weight;
  }
}

/// The sum over k of sum(cot/k * out/k); null when no cotangent is recorded.
Tensor loss_of(const RecordedCase& recorded, Graph& graph, const Outputs& outputs) {
  Tensor loss;
  for (const auto& [name, array] : recorded.tensors) {
    const auto output = after(name, "cot/");
    if (!output) continue;
    const auto at = outputs.find(*output);
    if (at == outputs.end() || !at->second) fail<RuntimeError>("out/{} is not produced", *output);
    if (at->second.shape() != array.shape()) {
      fail<RuntimeError>("out/{} is {} but {} is expected", *output, to_string(at->second.type()),
                         to_string(array.type()));
    }
    const Tensor term = reduce_sum(convert(at->second, DType::kF32) * graph.argument(name, array.type()));
    loss = loss ? loss + term : term;
  }
  return loss;
}

/// Outputs of the program under their recorded names.
void write_outputs(const RecordedCase& recorded, ModelTrace& trace, const Outputs& outputs) {
  Graph& graph = trace.graph();
  for (const auto& [name, value] : outputs) {
    if (value && recorded.tensor("out/" + name) != nullptr) graph.output("out/" + name, value);
  }
  const Tensor loss = loss_of(recorded, graph, outputs);
  if (!loss) return;
  graph.output("out/__loss", loss);
  std::vector<std::string> names;
  std::vector<Tensor> wrt;
  for (const auto& [name, array] : recorded.tensors) {
    if (const auto path = after(name, "gw/")) {
      const Param* param = trace.find(std::string(kParams) + *path);
      if (param == nullptr) fail<RuntimeError>("the layer has no weight {}", *path);
      names.push_back(name);
      wrt.push_back(param->value);
    }
    if (const auto input = after(name, "gin/")) {
      names.push_back(name);
      wrt.push_back(graph.argument("in/" + *input, array.type()));
    }
  }
  const std::vector<Tensor> grads = grad(loss, wrt);
  for (size_t i = 0; i < grads.size(); ++i) graph.output(names[i], grads[i]);
}

/// Every recorded weight must be one of the layer's, and the reverse.
void check_variables(const RecordedCase& recorded, const ModelTrace& trace) {
  for (const auto& [name, array] : recorded.tensors) {
    const auto path = after(name, "w/");
    if (path && trace.find(std::string(kParams) + *path) == nullptr) {
      fail<RuntimeError>("the layer has no weight {} {}", *path, to_string(array.type()));
    }
  }
  for (const Param& param : trace.params()) {
    const bool trained = param.spec.collection == Collection::kParams;
    if (recorded.tensor((trained ? "w/" : "nw/") + param.path) == nullptr) {
      fail<RuntimeError>("the layer has a variable {} {} that is not recorded", param.state_name(),
                         to_string(param.value.type()));
    }
  }
}

}  // namespace

std::string run_layer_case(const RecordedCase& recorded, const Context& context) {
  Graph graph;
  const bool eval = recorded.flag("do_eval") || recorded.text("area") == "decoding";
  ModelTrace trace(graph, eval ? ModelTrace::Mode::kEval : ModelTrace::Mode::kTrain);
  trace.random_key = graph.argument(kKey, {DType::kU32, {2}});
  Outputs outputs = call(recorded, context, trace);
  check_variables(recorded, trace);
  add_side_results(graph, outputs);
  write_outputs(recorded, trace, outputs);
  const HostTree results = run_graph(graph, program_arguments(recorded), context);

  for (const auto& [name, expected] : recorded.tensors) {
    const bool is_gradient = name.starts_with("gw/") || name.starts_with("gin/");
    if (!is_gradient && !name.starts_with("out/")) continue;
    const auto at = results.find(name);
    if (at == results.end()) {
      // A variable that is not updated keeps its value.
      const auto path = after(name, "out/updated/");
      const HostArray* before = path ? recorded.tensor("nw/" + *path) : nullptr;
      if (before == nullptr) return name + " is not produced";
      if (std::string off = compare(name, *before, expected, {}); !off.empty()) return off;
      continue;
    }
    const Tolerance tolerance = tolerance_of(recorded, is_gradient ? "grad" : "out");
    if (std::string off = compare(name, at->second, expected, tolerance); !off.empty()) return off;
  }
  return "";
}

}  // namespace pax::golden
