// What a step costs beside the plugin: names, checks and handles of a state of 200 arrays, against the bare execution.
// Usage: dispatch [--json]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "pax/ir/transform.h"
#include "pax/ops/elementwise.h"
#include "pax/runtime/platform.h"
#include "pax/runtime/program.h"

namespace pax {
namespace {

constexpr int kArrays = 200;
constexpr int kSteps = 300;

ProgramText count_up() {
  Graph graph;
  for (int i = 0; i < kArrays; ++i) {
    const std::string name = fmt::format("params/lm/transformer/x_layers_{}/ff_layer/w", i);
    graph.output(name, graph.argument(name, {DType::kF32, {4}}) + 1.0);
  }
  return program_text(*lower(graph, {}));
}

template <class Action>
double best_us(Action action) {
  double best = 1e9;
  for (int i = 0; i < kSteps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    action();
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

void run() {
  const auto mesh = std::make_shared<const DeviceMesh>(open_client({}), Mesh{});
  CompileCache cache{std::filesystem::path()};
  const Program program(mesh, count_up(), cache);
  DeviceTree state;
  for (const ProgramValue& argument : program.text().arguments) {
    state.emplace(argument.name, DeviceArray::put(mesh, HostArray(argument.type)));
  }
  const double step_us = best_us([&] {
    program.step(state);
    state.begin()->second.wait();
  });

  BufferList buffers;
  for (const ProgramValue& argument : program.text().arguments) buffers.push_back(state.at(argument.name).shards()[0]);
  const double bare_us = best_us([&] {
    buffers = program.executable().execute(buffers);
    buffers[0].wait();
  });
  fmt::print("{{\"arrays\": {}, \"step_us\": {:.1f}, \"bare_us\": {:.1f}, \"overhead_us\": {:.1f}}}\n", kArrays,
             step_us, bare_us, step_us - bare_us);
}

}  // namespace
}  // namespace pax

int main() {
  pax::run();
  return 0;
}
