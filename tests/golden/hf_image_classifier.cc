#include <fmt/format.h>

#include "pax/interop/huggingface/rearrange.h"
#include "pax/layers/softmax/softmax.h"
#include "pax/ops/convert.h"
#include "tests/golden/hf_folder.h"

namespace pax::golden {
namespace {

void output_states(Graph& graph, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const std::string stack = "network/transformers_stack";
    graph.output(fmt::format("hidden/{}", i), i == 0 ? input_of(graph, stack + "/x_layers_0")
                                                     : output_of(graph, fmt::format("{}/x_layers_{}", stack, i - 1)));
  }
}

void check_states(const HfRun& run, const HostTree& results, const HostArray& expected) {
  std::vector<double> got;
  for (int64_t i = 0; i < expected.shape()[0]; ++i) {
    const std::vector<double> state = results.at(fmt::format("hidden/{}", i)).to_doubles();
    got.insert(got.end(), state.begin(), state.end());
  }
  run.checks.add("plain.hidden_states",
                 compare("plain.hidden_states", from_doubles(got, {DType::kF32, expected.shape()}), expected,
                         run.folder.tolerance("hidden_states_abs")));
}

}  // namespace

void check_image_classifier(const HfRun& run) {
  const HfFolder& folder = run.folder;
  // Channels come first over there.
  const HostArray pixels = hf::rearrange(*folder.find("plain.pixel_values"), "b c y x -> b y x c", {});
  const HostArray labels = folder.integers("plain.labels");
  const int64_t batch = pixels.shape()[0];
  Graph graph;
  ModelTrace trace(graph, ModelTrace::Mode::kEval);
  const Tensor image = graph.argument("batch/image", pixels.type());
  const Tensor ids = graph.argument("batch/labels", {DType::kS32, {batch, 1}});
  const Tensor weights = graph.argument("batch/weights", {DType::kF32, {batch, 1}});
  std::shared_ptr<Layer> network;
  Tensor features;
  {
    const Graph::PathGuard path(graph, "network");
    network = run.model.model.get<Tpl<Layer>>("network_tpl").build(Scope(trace).child("network"));
    features = network->fprop(image);
  }
  const auto softmax = run.model.model.get<Tpl<Softmax>>("softmax_tpl").build(Scope(trace).child("softmax"));
  const SoftmaxOutput output =
      softmax->fprop({.inputs = features, .class_weights = weights, .class_ids = ids, .class_probabilities = {}});
  graph.output("logits", convert(output.logits, DType::kF32));
  graph.output("loss", output.avg_xent);
  const HostArray* hidden = folder.find("plain.hidden_states");
  if (hidden != nullptr) output_states(graph, hidden->shape()[0]);
  output_gradients(graph, trace, output.avg_xent);
  HostTree arguments = run.model.variables;
  arguments["batch/image"] = pixels;
  arguments["batch/labels"] = labels.reshaped({batch, 1});
  arguments["batch/weights"] =
      from_doubles(std::vector<double>(static_cast<size_t>(batch), 1), {DType::kF32, {batch, 1}});
  const HostTree results = run_graph(graph, arguments, run.context);
  run.checks.add("plain.logits", compare("plain.logits", results.at("logits"), *folder.find("plain.logits"),
                                         folder.tolerance("logits_abs")));
  run.checks.add("plain.loss", compare("plain.loss", results.at("loss").reshaped({1}), *folder.find("plain.loss"),
                                       folder.tolerance("loss_abs")));
  if (hidden != nullptr) check_states(run, results, *hidden);
  check_gradients(run, "plain.grad.", results);
}

}  // namespace pax::golden
