#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "pax/autodiff/grad.h"
#include "pax/base/text.h"
#include "pax/ir/stablehlo.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "tests/ops/gradient_rows.h"

namespace pax {

namespace {

/// sum over outputs of output * weights, with fixed weights of no symmetry.
Tensor loss_of(const GradientRow& row, const std::vector<Tensor>& inputs) {
  Graph& graph = inputs[0].graph();
  Tensor loss;
  uint64_t seed = 100;
  for (const Tensor& output : row.function(inputs)) {
    if (!is_floating(output.dtype())) continue;
    const HostArray weights = random_array({DType::kF64, output.shape()}, 0.5, 1.5, ++seed);
    const Tensor term = reduce_sum(output * convert(constant(graph, weights), output.dtype()));
    loss = loss ? loss + term : term;
  }
  return loss;
}

using Scalar = std::function<Tensor(const std::vector<Tensor>&)>;

std::vector<Tensor> moved(const std::vector<Tensor>& inputs, const std::vector<Tensor>& direction, double step) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < inputs.size(); ++i) out.push_back(inputs[i] + direction[i] * step);
  return out;
}

Tensor inner(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  Tensor sum;
  for (size_t i = 0; i < a.size(); ++i) {
    const Tensor term = reduce_sum(a[i] * b[i]);
    sum = sum ? sum + term : term;
  }
  return sum;
}

/// The derivative of `f` along a direction: by its gradient and by central differences.
std::vector<Tensor> both_derivatives(const Scalar& f, const std::vector<Tensor>& inputs,
                                     const std::vector<Tensor>& direction, double step) {
  const Tensor difference = f(moved(inputs, direction, step)) - f(moved(inputs, direction, -step));
  return {inner(grad(f(inputs), inputs), direction), difference / (2 * step)};
}

class GradientTest : public ::testing::TestWithParam<GradientRow> {};

TEST_P(GradientTest, EqualsCentralDifferences) {
  const GradientRow& row = GetParam();
  Graph graph;
  std::vector<HostArray> values;
  std::vector<Tensor> inputs;
  std::vector<Tensor> direction;
  std::vector<Tensor> other;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const TensorType type{DType::kF64, row.inputs[i].shape};
    const auto argument = [&](const char* name, HostArray value) {
      values.push_back(std::move(value));
      return graph.argument(name + std::to_string(i), type);
    };
    inputs.push_back(argument("x", random_array(type, row.inputs[i].low, row.inputs[i].high, i + 1)));
    direction.push_back(argument("direction", random_array(type, -1, 1, i + 50)));
    other.push_back(argument("other", random_array(type, -1, 1, i + 80)));
  }
  const Scalar once = [&](const std::vector<Tensor>& x) { return loss_of(row, x); };
  std::vector<Tensor> results = both_derivatives(once, inputs, direction, row.step);
  if (row.twice) {
    const Scalar gradient = [&](const std::vector<Tensor>& x) { return inner(grad(once(x), x), other); };
    const std::vector<Tensor> second = both_derivatives(gradient, inputs, direction, row.step);
    results.insert(results.end(), second.begin(), second.end());
  }
  for (size_t i = 0; i < results.size(); ++i) graph.output("r" + std::to_string(i), results[i]);
  const std::vector<HostArray> r = run(graph, values);
  const double scale = std::max(1.0, std::abs(r[1].item()));
  EXPECT_NEAR(r[0].item(), r[1].item(), row.tolerance * scale);
  if (row.twice) {
    EXPECT_NEAR(r[2].item(), r[3].item(), row.tolerance * 10 * std::max(1.0, std::abs(r[3].item())));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, GradientTest, ::testing::ValuesIn(all_rows()),
                         [](const auto& info) { return info.param.name; });

void build_forward(const GradientRow& row, DType dtype, Graph& graph, std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    inputs.push_back(graph.argument(row.name + std::to_string(i), {dtype, row.inputs[i].shape}));
  }
}

TEST(GradientTable, HasARowForEveryOpWithAGradient) {
  std::set<const OpDef*> seen;
  for (const GradientRow& row : all_rows()) {
    Graph graph;
    std::vector<Tensor> inputs;
    build_forward(row, DType::kF64, graph, inputs);
    row.function(inputs);
    for (size_t id = 0; id < graph.num_nodes(); ++id) seen.insert(graph.node(static_cast<NodeId>(id)).op);
  }
  for (const OpDef* op : all_ops()) {
    if (op->vjp == nullptr) continue;
    EXPECT_TRUE(seen.contains(op)) << op->name << " has no row in tests/ops/gradient_rows_*.cc";
  }
}

TEST(GradientTable, BuildsInTheTypesOfTraining) {
  for (const DType dtype : {DType::kBF16, DType::kF32}) {
    for (const GradientRow& row : all_rows()) {
      Graph graph;
      std::vector<Tensor> inputs;
      build_forward(row, dtype, graph, inputs);
      const std::vector<Tensor> grads = grad(loss_of(row, inputs), inputs);
      for (size_t i = 0; i < grads.size(); ++i) EXPECT_EQ(grads[i].type(), inputs[i].type()) << row.name;
    }
  }
}

TEST(AllOps, ListsEveryOpOfTheSources) {
  size_t defined = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PAX_SOURCE_DIR) / "pax/ops")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) defined += line.starts_with("constinit const OpDef ") ? 1 : 0;
  }
  const std::vector<const OpDef*> listed = all_ops();
  EXPECT_EQ(std::set<const OpDef*>(listed.begin(), listed.end()).size(), defined);
}

}  // namespace
}  // namespace pax
