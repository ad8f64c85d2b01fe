#include "tests/golden/init_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pax/base/error.h"
#include "pax/config/yaml.h"
#include "pax/layers/layer.h"
#include "pax/ops/random.h"
#include "pax/params/initial_state.h"
#include "tests/golden/recorded_values.h"

namespace pax::golden {
namespace {

constexpr int64_t kDraws = 8;

Tensor draw_keys(Graph& graph) { return split_key(random_key(graph, 20240607), kDraws); }

struct Statistics {
  double mean = 0, deviation = 0, largest = 0, samples = 0;
};

Statistics statistics_of(const HostArray& array) {
  const std::vector<double> values = array.to_doubles();
  Statistics out{.samples = static_cast<double>(values.size())};
  for (const double v : values) out.mean += v / out.samples;
  for (const double v : values) {
    out.deviation += (v - out.mean) * (v - out.mean) / out.samples;
    out.largest = std::max(out.largest, std::abs(v));
  }
  out.deviation = std::sqrt(out.deviation);
  return out;
}

/// Beyond the recorded tolerance, five standard errors of draws that are not the same; the largest of normal draws is
/// itself random by some 8 percent.
std::string compare_statistics(const std::string& name, const HostArray& got, const HostArray& expected,
                               const Tolerance& tolerance) {
  const Statistics ours = statistics_of(got);
  const std::vector<double> theirs = expected.to_doubles();
  if (theirs.size() != 4 || theirs[3] != ours.samples) {
    return fmt::format("{} has {} samples but {} are expected", name, ours.samples, theirs.size() == 4 ? theirs[3] : 0);
  }
  const double error = theirs[1] / std::sqrt(ours.samples);
  const bool has_tails = theirs[2] > 2.5 * theirs[1];
  const double spread[] = {error, error / std::sqrt(2.0), has_tails ? 0.08 * theirs[2] : 0};
  const double values[] = {ours.mean, ours.deviation, ours.largest};
  constexpr const char* kWhat[] = {"mean", "deviation", "largest value"};
  for (size_t i = 0; i < 3; ++i) {
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(theirs[i]) + 5 * spread[i];
    if (!(std::abs(values[i] - theirs[i]) <= allowed)) {
      return fmt::format("{}: {} is {:.6g} but {:.6g} is expected", name, kWhat[i], values[i], theirs[i]);
    }
  }
  return "";
}

/// By recorded name: draws of the init methods that `rows` lists.
Tree<Tensor> draw_methods(const config::Value& rows, Graph& graph) {
  Tree<Tensor> out;
  for (const config::Value& row : rows.items) {
    WeightInit init;
    const auto names = enum_names(InitMethod{});
    const auto method =
        std::ranges::find_if(names, [&](const auto& entry) { return entry.second == row.find("method")->text; });
    if (method == names.end()) fail<RuntimeError>("init method {} is not known", row.find("method")->text);
    init = {method->first, number_of(*row.find("scale"))};
    const TensorType type{DType::kF32, Shape(integers_of(row.find("shape")))};
    out[fmt::format("out/{}", row.find("row")->integer)] = initial_values(
        init, draw_keys(graph), type, integers_of(row.find("fan_in_axes")), integers_of(row.find("fan_out_axes")));
  }
  return out;
}

/// By recorded name: draws of every weight of a layer.
void draw_layer(std::string_view name, const config::Value& layer, const Context& context, Graph& graph,
                Tree<Tensor>& out) {
  Graph model;
  ModelTrace trace(model, ModelTrace::Mode::kTrain);
  const auto built = config::parse<Layer>(*layer.find("config"), context.registry).build(Scope(trace));
  for (const Param& param : trace.params()) {
    if (param.spec.collection != Collection::kParams) continue;
    out[fmt::format("out/{}/{}", name, param.path)] = initial_value(param, draw_keys(graph));
  }
}

}  // namespace

std::string run_init_case(const RecordedCase& recorded, const Context& context) {
  Graph graph;
  Tree<Tensor> draws;
  if (const config::Value* layers = recorded.find("layers")) {
    for (size_t i = 0; i < layers->keys.size(); ++i) {
      draw_layer(layers->keys[i], layers->items[i], context, graph, draws);
    }
  } else {
    draws = draw_methods(recorded.at("rows"), graph);
  }
  for (const auto& [name, values] : draws) graph.output(name, values);
  const HostTree results = run_graph(graph, {}, context);
  for (const auto& [name, expected] : recorded.tensors) {
    if (!name.starts_with("out/")) continue;
    const auto at = results.find(name);
    if (at == results.end()) return name + " is not produced";
    const std::string differs = compare_statistics(name, at->second, expected, tolerance_of(recorded, "out"));
    if (!differs.empty()) return differs;
  }
  return "";
}

}  // namespace pax::golden
