#include "tests/golden/hf_folder.h"

#include <fmt/format.h>

#include "pax/autodiff/grad.h"
#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/config/yaml.h"
#include "tests/golden/recorded_values.h"

namespace pax::golden {

HfFolder::HfFolder(const std::filesystem::path& folder)
    : path(folder),
      info(config::read_yaml(read_file(folder / "expected.json"), (folder / "expected.json").string())),
      expected(read_safetensors(folder / "expected.safetensors")),
      config(read_file(folder / "config.json"), (folder / "config.json").string()) {}

const HostArray* HfFolder::find(const std::string& name) const {
  const auto at = expected.find(name);
  return at == expected.end() ? nullptr : &at->second;
}

HostArray HfFolder::integers(const std::string& name) const {
  const HostArray* found = find(name);
  if (found == nullptr) fail<RuntimeError>("{}: {} is not recorded", path.string(), name);
  return found->converted(DType::kS32);
}

Tolerance HfFolder::tolerance(std::string_view of) const {
  const config::Value* all = info.find("tolerance");
  const config::Value* found = all == nullptr ? nullptr : all->find(of);
  if (found == nullptr) fail<RuntimeError>("{}: tolerance {} is not recorded", path.string(), of);
  return {.relative = 0, .absolute = number_of(*found)};
}

std::string compare_rows(const std::string& name, const HostArray& got, const HostArray& expected,
                         const HostArray* mask, const Tolerance& tolerance) {
  if (mask == nullptr || got.shape() != expected.shape()) return compare(name, got, expected, tolerance);
  std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  const std::vector<double> kept = mask->to_doubles();
  const size_t width = a.size() / kept.size();
  for (size_t i = 0; i < a.size(); ++i) {
    if (kept[i / width] == 0) a[i] = b[i] = 0;
  }
  return compare(name, from_doubles(a, {DType::kF32, got.shape()}), from_doubles(b, {DType::kF32, got.shape()}),
                 tolerance);
}

namespace {

bool is_inside(const std::string& path, const std::string& of) {
  return path == of || (path.starts_with(of) && path[of.size()] == '/');
}

}  // namespace

Tensor output_of(Graph& graph, const std::string& path) {
  Tensor last;
  for (const NodeId id : graph.block(0).nodes) {
    const Node& node = graph.node(id);
    if (node.results.empty() || !is_inside(graph.path_name(node.path), path)) continue;
    const Tensor value = graph.tensor(node.results[0]);
    if (value.rank() == 3) last = value;  // scalars behind it are auxiliary losses
  }
  return last;
}

Tensor input_of(Graph& graph, const std::string& path) {
  for (const NodeId id : graph.block(0).nodes) {
    const Node& node = graph.node(id);
    if (!is_inside(graph.path_name(node.path), path)) continue;
    for (const ValueId operand : node.operands) {
      const Tensor value = graph.tensor(operand);
      const NodeId maker = graph.value(operand).node;
      const bool outside = maker >= 0 && !is_inside(graph.path_name(graph.node(maker).path), path);
      if (outside && value.rank() == 3 && is_floating(value.dtype())) return value;
    }
  }
  return {};
}

void output_gradients(Graph& graph, const ModelTrace& trace, Tensor loss) {
  std::vector<Tensor> weights;
  for (const Param& param : trace.params()) weights.push_back(param.value);
  const std::vector<Tensor> gradients = grad(loss, weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    graph.output("grad/" + trace.params()[i].state_name(), gradients[i]);
  }
}

void check_gradients(const HfRun& run, const std::string& prefix, const HostTree& results) {
  HostTree gradients;
  for (const auto& [name, value] : results) {
    if (name.starts_with("grad/")) gradients.emplace(name.substr(5), value);
  }
  const HostTree tensors = hf::export_weights(run.model.weights, gradients);
  for (const auto& [name, expected] : run.folder.expected) {
    if (!name.starts_with(prefix)) continue;
    const auto at = tensors.find(name.substr(prefix.size()));
    run.checks.add(name, at == tensors.end() ? "the model has no such weight"
                                             : compare(name, at->second, expected, run.folder.tolerance("grad_abs")));
  }
}

}  // namespace pax::golden
