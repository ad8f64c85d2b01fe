#include "tests/layers/testing.h"

#include <gtest/gtest.h>

#include "pax/ir/stablehlo.h"
#include "pax/ir/transform.h"
#include "pax/pjrt/client.h"
#include "pax/runtime/platform.h"

namespace pax {
namespace {

/// One client for all tests, closed while the plugin's own statics still live.
class SharedClient : public testing::Environment {
 public:
  void TearDown() override { client.reset(); }
  std::shared_ptr<const Client> client;
};

SharedClient* const shared = [] {
  auto* environment = new SharedClient;
  testing::AddGlobalTestEnvironment(environment);
  return environment;
}();

const std::shared_ptr<const Client>& client() {
  if (!shared->client) shared->client = open_client({});
  return shared->client;
}

}  // namespace

HostArray run(TracedLayer& traced, Tensor result, const HostTree& values) {
  traced.graph.output("result", result);
  const std::unique_ptr<Graph> lowered = lower(traced.graph, Target{});
  BufferList arguments;
  for (const Argument& argument : lowered->arguments()) {
    arguments.push_back(client()->to_device(values.at(argument.name)));
  }
  return client()->compile(to_stablehlo(*lowered)).execute(arguments).at(0).to_host();
}

HostArray forward(const Tpl<Layer>& tpl, const HostTree& variables, const HostArray& x, ModelTrace::Mode mode) {
  TracedLayer traced(mode);
  const std::shared_ptr<Layer> layer = traced.build(tpl);
  const Tensor input = traced.input("x", x.type());
  const Tensor result = [&] {
    const Graph::PathGuard path(traced.graph, "layer");
    return layer->fprop(input);
  }();
  HostTree values{{"x", x}};
  for (const Param& param : traced.trace.params()) {
    values[param.state_name()] = variables.at(param.path.substr(std::string_view("layer/").size()));
  }
  return run(traced, result, values);
}

HostArray f32(std::initializer_list<float> values, Shape shape) {
  return HostArray::of<float>(values, std::move(shape));
}
HostArray s32(std::initializer_list<int32_t> values, Shape shape) {
  return HostArray::of<int32_t>(values, std::move(shape));
}

}  // namespace pax
