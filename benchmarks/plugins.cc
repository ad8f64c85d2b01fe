// The CPU plugins side by side: a matrix product, and a training step of two transformer layers. The order of
// `pax/runtime/platform.cc` follows from it. Usage: plugins [--json]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "pax/autodiff/grad.h"
#include "pax/base/text.h"
#include "pax/ir/transform.h"
#include "pax/ops/activations.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"
#include "pax/ops/slice.h"
#include "pax/runtime/platform.h"
#include "pax/runtime/program.h"

namespace pax {
namespace {

// Axes: b batch, t time, d model, f hidden, n heads, h a head's width.
constexpr int64_t kBatch = 4, kTime = 256, kModel = 256, kHidden = 1024, kHeads = 8;
constexpr int64_t kSize = 1024;
constexpr int kRounds = 30;

TensorType f32(Shape shape) { return {DType::kF32, std::move(shape)}; }

/// y = x x for x of [kSize, kSize].
ProgramText product() {
  Graph graph;
  const Tensor x = graph.argument("x", f32({kSize, kSize}));
  graph.output("y", matmul(x, x));
  return program_text(*lower(graph, {}));
}

Tensor attention(Tensor x_td, Tensor qkv, Tensor out) {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < 3; ++i) {
    parts.push_back(reshape(matmul(x_td, index_dim(qkv, 0, i)), {kBatch, kTime, kHeads, kModel / kHeads}));
  }
  const Tensor scores_bnts = einsum("btnh,bsnh->bnts", parts[0], parts[1]) * 0.17;
  const Tensor mixed = einsum("bnts,bsnh->btnh", softmax(scores_bnts), parts[2]);
  return matmul(reshape(mixed, {kBatch * kTime, kModel}), out);
}

/// One step of gradient descent with momentum on the mean square of the output.
ProgramText step() {
  Graph graph;
  std::vector<Tensor> weights;
  std::vector<std::string> names;
  const auto weight = [&](const std::string& name, Shape shape) {
    names.push_back(name);
    weights.push_back(graph.argument(name, f32(std::move(shape))));
    return weights.back();
  };
  Tensor x_td = graph.argument("x", f32({kBatch * kTime, kModel}));
  for (const std::string layer : {"a", "b"}) {
    x_td =
        x_td + attention(x_td, weight(layer + "/qkv", {3, kModel, kModel}), weight(layer + "/out", {kModel, kModel}));
    const Tensor hidden = gelu(matmul(x_td, weight(layer + "/up", {kModel, kHidden})));
    x_td = x_td + matmul(hidden, weight(layer + "/down", {kHidden, kModel}));
  }
  const Tensor loss = reduce_mean(square(x_td));
  const std::vector<Tensor> grads = grad(loss, weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    const Tensor momentum = graph.argument("momentum/" + names[i], weights[i].type());
    const Tensor next = momentum * 0.9 + grads[i];
    graph.output("momentum/" + names[i], next);
    graph.output(names[i], weights[i] - next * 0.01);
  }
  graph.output("loss", loss);
  return program_text(*lower(graph, {}));
}

DeviceTree small_values(const std::shared_ptr<const DeviceMesh>& mesh, const ProgramText& text) {
  DeviceTree tree;
  for (const ProgramValue& argument : text.arguments) {
    std::vector<double> values(static_cast<size_t>(argument.type.shape.num_elements()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.01 * static_cast<double>(i * 7919 % 13) - 0.06;
    tree.emplace(argument.name, DeviceArray::put(mesh, from_doubles(values, argument.type)));
  }
  return tree;
}

double seconds(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Contender {
  std::string name;
  std::shared_ptr<const DeviceMesh> mesh;
  std::vector<Program> programs;
  std::vector<DeviceTree> states;
  std::vector<std::vector<double>> times;
  double compile_s = 0;
};

/// The least of the times: what other programs add is never negative.
double best(const std::vector<double>& times) { return *std::ranges::min_element(times); }

Contender contender(const std::filesystem::path& plugin) {
  Contender made;
  made.name = plugin.parent_path().filename();
  made.mesh = std::make_shared<const DeviceMesh>(Client::create(Plugin::load(plugin)), Mesh{});
  CompileCache nothing_kept{std::filesystem::path()};
  made.compile_s = seconds([&] {
    for (const ProgramText& text : {product(), step()}) made.programs.emplace_back(made.mesh, text, nothing_kept);
  });
  for (const Program& program : made.programs) {
    made.states.push_back(small_values(made.mesh, program.text()));
    made.times.emplace_back();
  }
  return made;
}

void run(bool json) {
  std::vector<Contender> contenders;
  for (const auto& plugin : installed_plugins(PAX_DEPS_DIR, "cpu")) contenders.push_back(contender(plugin));
  // In turns, so that a busy machine is busy for all.
  for (int round = -2; round < kRounds; ++round) {
    for (Contender& one : contenders) {
      for (size_t i = 0; i < one.programs.size(); ++i) {
        const double time = seconds([&] {
          const DeviceTree results = one.programs[i].step(one.states[i]);
          for (const auto& [name, array] : results) array.wait();
        });
        if (round >= 0) one.times[i].push_back(time);
      }
    }
  }
  double fastest = 1e9;
  for (const Contender& one : contenders) fastest = std::min(fastest, best(one.times[1]));
  std::vector<std::string> rows;
  for (const Contender& one : contenders) {
    const double gflops = 2e-9 * kSize * kSize * kSize / best(one.times[0]);
    const double step_s = best(one.times[1]);
    rows.push_back(fmt::format(
        R"({{"plugin": {}, "matmul_gflops": {:.1f}, "step_ms": {:.2f}, "step_ratio": {:.3f}, "compile_s": {:.2f}}})",
        json_quote(one.name), gflops, step_s * 1e3, step_s / fastest, one.compile_s));
    if (!json) fmt::print("{}\n", rows.back());
  }
  if (json) fmt::print("[{}]\n", join(rows, ", "));
}

}  // namespace
}  // namespace pax

int main(int argc, char** argv) {
  pax::run(argc > 1 && std::strcmp(argv[1], "--json") == 0);
  return 0;
}
