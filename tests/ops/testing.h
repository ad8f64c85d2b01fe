#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pax/ir/graph.h"
#include "pax/ir/transform.h"

namespace pax {

/// A piece of program: its results from its inputs.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// Runs `function` on a CPU plugin and gives its results.
std::vector<HostArray> evaluate(const Function& function, const std::vector<HostArray>& inputs,
                                const Target& target = {}, const std::string& plugin = "xla-cpu-pjrt");

/// Lowers, writes, compiles and runs a program whose arguments take `inputs` in order.
std::vector<HostArray> run(Graph& graph, const std::vector<HostArray>& inputs, const Target& target = {},
                           const std::string& plugin = "xla-cpu-pjrt");

/// Numbers between `low` and `high`, the same for the same seed.
HostArray random_array(TensorType type, double low, double high, uint64_t seed);

/// An array of f64, f32 or integers from its elements in order.
HostArray f64(std::vector<double> values, Shape shape);
HostArray f32(std::vector<double> values, Shape shape);
HostArray i32(std::vector<double> values, Shape shape);

}  // namespace pax
