#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "pax/ir/transform.h"
#include "pax/kernels/registry.h"
#include "pax/runtime/platform.h"
#include "pax/runtime/program.h"

namespace pax {

/// The default CPU plugin with the kernels known to it.
inline std::shared_ptr<const DeviceMesh> kernel_mesh(const std::string& plugin) {
  static std::map<std::string, std::shared_ptr<const DeviceMesh>> meshes;
  auto& mesh = meshes[plugin];
  if (mesh == nullptr) {
    auto client = open_client({.plugin = plugin, .deps_dir = PAX_DEPS_DIR});
    register_kernels(*client->plugin());
    mesh = std::make_shared<DeviceMesh>(client, Mesh{});
  }
  return mesh;
}

/// A piece of program: its results from its inputs.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct Compiled {
  std::vector<HostArray> results;
  std::string text;
};

/// Runs `function` lowered for `target`.
inline Compiled run_for(const Target& target, const Function& function, const std::vector<HostArray>& inputs,
                        const std::string& plugin = "") {
  Graph graph;
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments.push_back(graph.argument("in" + std::to_string(i), inputs[i].type()));
  }
  const std::vector<Tensor> results = function(arguments);
  for (size_t i = 0; i < results.size(); ++i) graph.output("out" + std::to_string(i), results[i]);
  const auto lowered = lower(graph, target);
  CompileCache cache{std::filesystem::path{}};
  const auto mesh = kernel_mesh(plugin);
  const Program program(mesh, program_text(*lowered), cache);
  DeviceTree tree;
  for (size_t i = 0; i < inputs.size(); ++i) {
    tree.emplace("in" + std::to_string(i), DeviceArray::put(mesh, inputs[i]));
  }
  const DeviceTree out = program.run(tree);
  Compiled compiled{.results = {}, .text = program.text().stablehlo};
  for (size_t i = 0; i < results.size(); ++i) {
    compiled.results.push_back(out.at("out" + std::to_string(i)).to_host());
  }
  return compiled;
}

/// Numbers around zero, the same for the same seed.
inline HostArray normal(TensorType type, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> distribution;
  std::vector<double> values(static_cast<size_t>(type.shape.num_elements()));
  for (double& value : values) value = distribution(generator);
  return from_doubles(values, type);
}

/// The largest difference, as a share of the largest element of `b`.
inline double difference(const HostArray& a, const HostArray& b) {
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double worst = 0, largest = 1e-30;
  for (size_t i = 0; i < x.size(); ++i) {
    worst = std::isfinite(x[i]) ? std::max(worst, std::abs(x[i] - y[i])) : 1e30;
    largest = std::max(largest, std::abs(y[i]));
  }
  return worst / largest;
}

/// A target that uses every kernel, whether or not this machine gains by it.
inline Target all_kernels() { return {.kernels = true, .tile_products = true}; }

}  // namespace pax
