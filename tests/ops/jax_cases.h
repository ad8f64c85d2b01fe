#pragma once

#include <string>
#include <vector>

#include "pax/array/host_array.h"
#include "pax/ir/graph.h"

namespace pax {

/// What JAX made of one output or gradient.
struct JaxExpected {
  std::string name;
  HostArray value;
  double tolerance;
};

/// Cases of tests/ops/recorded/jax_ops.json in one program.
struct JaxCases {
  std::vector<HostArray> inputs;      ///< In the order of the program's arguments.
  std::vector<JaxExpected> expected;  ///< In the order of its outputs.
};

/// The names of the ops that have cases.
std::vector<std::string> jax_case_ops();

/// Adds all cases of `op` to `graph`, outputs and gradients, under the path `op`. Throws RuntimeError where a result
/// has another type than JAX's.
void add_jax_cases(const std::string& op, Graph& graph, JaxCases& cases);

}  // namespace pax
