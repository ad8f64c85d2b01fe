// Every row of the gradient table, split over four devices: the same numbers as on one.

#include <gtest/gtest.h>

#include "pax/autodiff/grad.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/runtime/program.h"
#include "tests/ops/gradient_rows.h"
#include "tests/runtime/testing.h"

namespace pax {
namespace {

using Tensors = std::vector<Tensor>;

/// XLA's partitioner doubles the input's gradient where a dilated convolution is split in space.
bool stays_whole(const std::string& row) { return row == "conv_transposed"; }

/// The first even dimension over "data", the next over "mdl".
Sharding split_of(const Shape& shape) {
  Sharding sharding;
  sharding.dims.resize(static_cast<size_t>(shape.rank()));
  const char* axes[] = {"data", "mdl"};
  size_t next = 0;
  for (size_t i = 0; i < sharding.dims.size() && next < 2; ++i) {
    if (shape[static_cast<int64_t>(i)] % 2 == 0) sharding.dims[i] = {axes[next++]};
  }
  return sharding;
}

/// Outputs and gradients of all rows as one program, inputs `split` or whole.
void add_rows(const std::vector<GradientRow>& rows, bool split, Graph& graph, HostTree& values) {
  for (const GradientRow& row : rows) {
    Tensors inputs;
    for (size_t i = 0; i < row.inputs.size(); ++i) {
      const std::string name = row.name + "/" + std::to_string(i);
      const TensorType type{DType::kF64, row.inputs[i].shape};
      values.emplace(name, random_array(type, row.inputs[i].low, row.inputs[i].high, i + 1));
      inputs.push_back(graph.argument(name, type, split && !stays_whole(row.name) ? split_of(type.shape) : Sharding{}));
    }
    const Graph::PathGuard path(graph, row.name);
    Tensor loss;
    size_t count = 0;
    for (const Tensor& output : row.function(inputs)) {
      graph.output(row.name + "/output" + std::to_string(count++), output);
      if (!is_floating(output.dtype())) continue;
      const Tensor term = reduce_sum(square(output + 0.3));
      loss = loss ? loss + term : term;
    }
    count = 0;
    for (const Tensor& gradient : grad(loss, inputs)) {
      graph.output(row.name + "/gradient" + std::to_string(count++), gradient);
    }
  }
}

HostTree run_rows(const std::vector<GradientRow>& rows, const Mesh& mesh) {
  Graph graph;
  HostTree values;
  const bool split = mesh.num_devices() > 1;
  add_rows(rows, split, graph, values);
  const auto devices = std::make_shared<const DeviceMesh>(default_client(mesh.num_devices()), mesh);
  CompileCache nothing_kept{std::filesystem::path()};
  const Program program(devices, program_text(*lower(graph, {.partitioned = split}), mesh), nothing_kept);
  DeviceTree arguments;
  for (const ProgramValue& argument : program.text().arguments) {
    arguments.emplace(argument.name, DeviceArray::put(devices, values.at(argument.name), argument.sharding));
  }
  return to_host(program.run(arguments));
}

/// A part of the gradient table.
struct Part {
  const char* name;
  std::vector<GradientRow> (*rows)();
};

void PrintTo(const Part& part, std::ostream* out) { *out << part.name; }

class ShardedTest : public ::testing::TestWithParam<Part> {};

TEST_P(ShardedTest, EqualsOneDevice) {
  const std::vector<GradientRow> rows = GetParam().rows();
  const HostTree alone = run_rows(rows, {});
  const HostTree split = run_rows(rows, {{"data", "mdl"}, {2, 2}});
  ASSERT_EQ(split.size(), alone.size());
  for (const auto& [name, value] : alone) {
    const std::vector<double> want = value.to_doubles();
    const std::vector<double> got = split.at(name).to_doubles();
    ASSERT_EQ(got.size(), want.size()) << name;
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], 1e-9 * std::max(1.0, std::abs(want[i]))) << name << " element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, ShardedTest,
                         ::testing::Values(Part{"elementwise", elementwise_rows}, Part{"shape", shape_rows},
                                           Part{"index", index_rows}, Part{"reduce", reduce_rows},
                                           Part{"product", product_rows}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace pax
