#include "tests/ops/testing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "pax/ir/stablehlo.h"
#include "pax/pjrt/client.h"

namespace pax {
namespace {

/// One client for each plugin, closed while the plugins' own statics still live.
class SharedClients : public testing::Environment {
 public:
  void TearDown() override { of.clear(); }
  std::map<std::string, std::shared_ptr<const Client>> of;
};

SharedClients* const shared = [] {
  auto* environment = new SharedClients;
  testing::AddGlobalTestEnvironment(environment);
  return environment;
}();

std::shared_ptr<const Client> client_of(const std::string& plugin) {
  auto& client = shared->of[plugin];
  if (client == nullptr) {
    const auto path = std::filesystem::path(PAX_DEPS_DIR) / "plugins" / "cpu" / plugin / "plugin.so";
    client = Client::create(Plugin::load(path), {{"cpu_device_count", int64_t{1}}});
  }
  return client;
}

}  // namespace

std::vector<HostArray> run(Graph& graph, const std::vector<HostArray>& inputs, const Target& target,
                           const std::string& plugin) {
  const std::unique_ptr<Graph> lowered = lower(graph, target);
  const auto client = client_of(plugin);
  const LoadedExecutable executable = client->compile(to_stablehlo(*lowered));
  BufferList arguments;
  for (const HostArray& input : inputs) arguments.push_back(client->to_device(input));
  std::vector<HostArray> results;
  for (const Buffer& buffer : executable.execute(arguments)) results.push_back(buffer.to_host());
  return results;
}

std::vector<HostArray> evaluate(const Function& function, const std::vector<HostArray>& inputs, const Target& target,
                                const std::string& plugin) {
  Graph graph;
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments.push_back(graph.argument("in" + std::to_string(i), inputs[i].type()));
  }
  const std::vector<Tensor> results = function(arguments);
  for (size_t i = 0; i < results.size(); ++i) graph.output("out" + std::to_string(i), results[i]);
  return run(graph, inputs, target, plugin);
}

HostArray random_array(TensorType type, double low, double high, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(static_cast<size_t>(type.shape.num_elements()));
  for (double& value : values) value = uniform(generator);
  return from_doubles(values, std::move(type));
}

HostArray f64(std::vector<double> values, Shape shape) { return from_doubles(values, {DType::kF64, std::move(shape)}); }
HostArray f32(std::vector<double> values, Shape shape) { return from_doubles(values, {DType::kF32, std::move(shape)}); }
HostArray i32(std::vector<double> values, Shape shape) { return from_doubles(values, {DType::kS32, std::move(shape)}); }

}  // namespace pax
