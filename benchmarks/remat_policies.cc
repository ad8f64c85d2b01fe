// What each remat policy costs: temporary bytes and time of a training step of 24 repeated transformer layers. One JSON
// line a policy. Usage: remat_policies

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "pax/autodiff/grad.h"
#include "pax/control/remat.h"
#include "pax/control/scan.h"
#include "pax/ir/transform.h"
#include "pax/ops/activations.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reduce.h"
#include "pax/ops/slice.h"
#include "pax/runtime/platform.h"
#include "pax/runtime/program.h"

namespace pax {
namespace {

// Axes: b batch, t and s time, d model, f hidden, n heads, h a head's width.
constexpr int64_t kLayers = 24, kBatch = 4, kTime = 128, kModel = 128, kHidden = 512, kHeads = 4;

struct Weights {
  Tensor qkv, out, up, down;
};

Tensor layer(Tensor x_btd, const Weights& w) {
  const Tensor qkv = checkpoint_name(einsum("btd,cdnh->cbtnh", x_btd, w.qkv), "combined_qkv_proj");
  const Tensor scores_bnts = einsum("btnh,bsnh->bnts", index_dim(qkv, 0, 0), index_dim(qkv, 0, 1)) * 0.17;
  const Tensor context =
      checkpoint_name(einsum("bnts,bsnh->btnh", softmax(scores_bnts), index_dim(qkv, 0, 2)), "context");
  x_btd = x_btd + checkpoint_name(einsum("btnh,dnh->btd", context, w.out), "out_proj");
  const Tensor hidden = gelu(checkpoint_name(einsum("btd,df->btf", x_btd, w.up), "ffn1"));
  const Tensor out = x_btd + checkpoint_name(einsum("btf,fd->btd", hidden, w.down), "ffn2");
  return checkpoint_name(out, "transformer_layer_out");
}

ProgramText step(AutodiffCheckpointType policy) {
  Graph graph;
  const int64_t loop = graph.new_loop();
  std::vector<Tensor> stacked;
  std::vector<std::string> names;
  const auto weight = [&](const std::string& name, Shape shape) {
    names.push_back(name);
    stacked.push_back(graph.argument(name, {DType::kF32, shape.prefixed(std::span(&kLayers, 1))}));
    return each_iteration(stacked.back(), loop);
  };
  const Weights w{.qkv = weight("qkv", {3, kModel, kHeads, kModel / kHeads}),
                  .out = weight("out", {kModel, kHeads, kModel / kHeads}),
                  .up = weight("up", {kModel, kHidden}),
                  .down = weight("down", {kHidden, kModel})};
  const Tensor x_btd = graph.argument("x", {DType::kF32, {kBatch, kTime, kModel}});
  const ScanOptions options{.length = kLayers, .remat = remat_policy(policy), .loop = loop};
  const Tensor y_btd = scan(graph, options, std::span(&x_btd, 1), {}, [&](auto carry, auto) {
                         return ScanStep{.carry = {layer(checkpoint_name(carry[0], "iteration_input"), w)}, .ys = {}};
                       }).carry[0];
  const Tensor loss = reduce_mean(square(y_btd));
  const std::vector<Tensor> grads = grad(loss, stacked);
  for (size_t i = 0; i < grads.size(); ++i) graph.output(names[i], stacked[i] - grads[i] * 0.01);
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

/// Milliseconds of the fastest of several steps.
double step_ms(const Program& program, DeviceTree& state) {
  double best = 1e9;
  for (int round = 0; round < 6; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const DeviceTree results = program.step(state);
    for (const auto& [name, array] : results) array.wait();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

void run() {
  const auto plugins = installed_plugins(PAX_DEPS_DIR, "cpu");
  const auto mesh = std::make_shared<const DeviceMesh>(Client::create(Plugin::load(plugins.at(0))), Mesh{});
  CompileCache nothing_kept{std::filesystem::path()};
  std::set<AutodiffCheckpointType> done;
  for (const auto& [policy, name] : enum_names(AutodiffCheckpointType{})) {
    if (!done.insert(policy).second) continue;
    const Program program(mesh, step(policy), nothing_kept);
    DeviceTree state = small_values(mesh, program.text());
    const int64_t bytes = program.executable().executable().memory_stats().temporaries;
    fmt::print(R"({{"policy": "{}", "temporary_bytes": {}, "step_ms": {:.1f}}})", name, bytes, step_ms(program, state));
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace pax

int main() { pax::run(); }
