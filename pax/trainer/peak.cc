#include "pax/trainer/peak.h"

#include <algorithm>
#include <chrono>

#include "pax/ir/transform.h"
#include "pax/ops/dot.h"
#include "pax/ops/reduce.h"

namespace pax {
namespace {

/// Large enough to be bound by arithmetic, small enough to be quick.
constexpr int64_t kSize = 1024;
constexpr int kRepeats = 4;

}  // namespace

double measure_peak_flops(const std::shared_ptr<const DeviceMesh>& mesh, DType dtype, CompileCache& cache) {
  Graph graph;
  const Tensor a = graph.argument("a", {dtype, {kSize, kSize}});
  const Tensor b = graph.argument("b", {dtype, {kSize, kSize}});
  graph.output("product", einsum("ab,bc->ac", a, b));
  const auto lowered = lower(graph, {});
  const Program program(mesh, program_text(*lowered, mesh->mesh(), "peak"), cache);
  const HostArray zeros({dtype, {kSize, kSize}});
  const DeviceTree inputs{{"a", DeviceArray::put(mesh, zeros)}, {"b", DeviceArray::put(mesh, zeros)}};
  program.run(inputs).at("product").wait();
  double best = 1e9;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    program.run(inputs).at("product").wait();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const double flops = 2.0 * kSize * kSize * kSize;
  // Virtual CPU devices share the cores: one of them at work already has them all.
  const bool shared_cores = mesh->client().platform_name() == "cpu";
  return flops / best * (shared_cores ? 1.0 : static_cast<double>(mesh->num_devices()));
}

}  // namespace pax
