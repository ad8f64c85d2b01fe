#include <gtest/gtest.h>

#include <set>

#include "pax/autodiff/vmap.h"
#include "pax/ops/all_ops.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"
#include "pax/ops/slice.h"
#include "tests/ops/batch_rows.h"

namespace pax {
namespace {

constexpr int64_t kBatch = 3;

using Tensors = std::vector<Tensor>;

/// The largest difference between `row` on the batch and on its elements one by one.
Tensor batch_error(const BatchRow& row, const Tensors& inputs, const std::vector<std::optional<int64_t>>& dims) {
  Graph& graph = inputs[0].graph();
  const Tensors together = vmap(graph, inputs, {.dims = dims},
                                [&](std::span<const Tensor> x) { return row.function(Tensors(x.begin(), x.end())); });
  Tensor error = full(graph, {DType::kF64, {}}, 0);
  for (int64_t at = 0; at < kBatch; ++at) {
    Tensors one;
    for (size_t i = 0; i < inputs.size(); ++i) one.push_back(dims[i] ? index_dim(inputs[i], *dims[i], at) : inputs[i]);
    const Tensors alone = row.function(one);
    EXPECT_EQ(alone.size(), together.size());
    for (size_t i = 0; i < alone.size(); ++i) {
      const Tensor got = index_dim(together[i], 0, at);
      EXPECT_EQ(to_string(got.type()), to_string(alone[i].type())) << "result " << i;
      if (got.shape().num_elements() == 0) continue;
      const Tensor difference = convert(got, DType::kF64) - convert(alone[i], DType::kF64);
      error = maximum(error, reduce_max(abs(difference)));
    }
  }
  return error;
}

class BatchTest : public ::testing::TestWithParam<BatchRow> {};

TEST_P(BatchTest, EqualsItsElementsOneByOne) {
  const BatchRow& row = GetParam();
  Graph graph;
  std::vector<HostArray> numbers;
  const auto argument = [&](const BatchInput& input, std::optional<int64_t> dim) {
    TensorType type = input.type;
    if (dim == 0) type.shape = type.shape.prefixed(std::span(&kBatch, 1));
    numbers.push_back(random_array(type, input.low, input.high, numbers.size() + 1));
    return graph.argument("x" + std::to_string(numbers.size()), type);
  };
  // All inputs with the batch, then each of them alone.
  const size_t count = row.inputs.size();
  for (size_t round = 0; round < (count > 1 ? count + 1 : 1); ++round) {
    Tensors inputs;
    std::vector<std::optional<int64_t>> dims;
    for (size_t i = 0; i < count; ++i) {
      dims.emplace_back();
      if (round == 0 || round == i + 1) dims.back() = 0;
      inputs.push_back(argument(row.inputs[i], dims.back()));
    }
    graph.output("error" + std::to_string(round), batch_error(row, inputs, dims));
  }
  for (const HostArray& error : run(graph, numbers)) EXPECT_LT(error.item(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Table, BatchTest, ::testing::ValuesIn(all_batch_rows()),
                         [](const auto& info) { return info.param.name; });

/// Ops that depend on the inputs of a row.
void collect_ops(const BatchRow& row, std::set<const OpDef*>& seen) {
  Graph graph;
  Tensors inputs;
  for (const BatchInput& input : row.inputs) {
    inputs.push_back(graph.argument("x" + std::to_string(inputs.size()), input.type));
  }
  row.function(inputs);
  std::vector<bool> depends(graph.num_values());
  for (const Tensor& input : inputs) depends[static_cast<size_t>(input.id())] = true;
  for (size_t id = 0; id < graph.num_nodes(); ++id) {
    const Node& node = graph.node(static_cast<NodeId>(id));
    for (const ValueId operand : node.operands) {
      if (!depends[static_cast<size_t>(operand)]) continue;
      seen.insert(node.op);
      for (const ValueId result : node.results) depends[static_cast<size_t>(result)] = true;
    }
  }
}

TEST(BatchTable, HasARowForEveryOp) {
  // Results that do not depend on an operand; calls of functions that only their owner knows.
  const std::set<std::string_view> without = {"constant", "iota", "custom_call"};
  std::set<const OpDef*> seen;
  for (const BatchRow& row : all_batch_rows()) collect_ops(row, seen);
  std::set<std::string_view> names;
  for (const OpDef* op : seen) names.insert(op->name);
  for (const OpDef* op : all_ops()) {
    if (without.contains(op->name) || seen.contains(op)) continue;
    // What only lowerings write goes under the StableHLO name of an op that has a row, or of the op that is lowered.
    const bool written_by_lowerings = op->batch == nullptr && op->trait != OpTrait::kElementwise;
    EXPECT_TRUE(written_by_lowerings) << op->name << " has no row in tests/ops/batch_rows.cc or gradient_rows_*.cc";
  }
  for (const OpDef* op : seen) {
    EXPECT_TRUE(op->batch != nullptr || op->trait == OpTrait::kElementwise) << op->name << " has no rule for batches";
  }
}

}  // namespace
}  // namespace pax
