#include <gtest/gtest.h>

#include <cmath>

#include "pax/layers/rnn/frnn.h"
#include "tests/layers/matchers.h"
#include "tests/layers/testing.h"

namespace pax {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

LstmCellSimple::Config unit_cell() {
  LstmCellSimple::Config config;
  config.num_input_nodes = config.num_output_nodes = 1;
  return config;
}

/// Runs one cell over `steps` inputs of 1, all gates' weights 1 on the input and 0 on the state.
HostArray run_cell(const LstmCellSimple::Config& cell, std::initializer_list<float> padding) {
  FRnn::Config config;
  config.cell_tpl = cell;
  TracedLayer traced;
  const auto layer = traced.build(Tpl<FRnn>(config));
  const auto steps = static_cast<int64_t>(padding.size());
  const TensorType type{DType::kF32, {1, steps, 1}};
  const RnnOutput out =
      layer->fprop(RnnInputs{.act = {traced.input("x", type)}, .padding = traced.input("p", type), .segment_ids = {}});
  std::vector<float> ones(padding.size(), 1.0F);
  return run(traced, out.act,
             {{"x", HostArray::of<float>(std::span<const float>(ones), type.shape)},
              {"p", HostArray::of<float>(padding, type.shape)},
              {"params/layer/cell/wm", f32({1, 1, 1, 1, 0, 0, 0, 0}, {2, 4})},
              {"params/layer/cell/b", f32({0, 0, 0, 0}, {4})}});
}

TEST(LstmCell, FollowsItsEquations) {
  const double g = logistic(1), c1 = g * std::tanh(1), c2 = g * c1 + g * std::tanh(1);
  EXPECT_THAT(run_cell(unit_cell(), {0, 0}), near({g * std::tanh(c1), g * std::tanh(c2)}));
}

TEST(LstmCell, KeepsItsStateAtPadding) {
  const std::vector<double> y = run_cell(unit_cell(), {0, 1}).to_doubles();
  EXPECT_EQ(y[0], y[1]);
}

TEST(LstmCell, CutsTheCellOff) {
  LstmCellSimple::Config config = unit_cell();
  config.cell_value_cap = 0.1;
  EXPECT_THAT(run_cell(config, {0}), near({logistic(1) * std::tanh(0.1)}));
}

TEST(CifgCell, HasNoForgetGateBias) {
  CifgLstmCellSimple::Config config;
  config.forget_gate_bias = 1;
  EXPECT_THAT([&] { TracedLayer().build(Tpl<BaseRnnCell>(config)); },
              throws<ConfigError>("layer", "forget_gate_bias is 1"));
}

TEST(ResetMask, ForgetsWhereASegmentBegins) {
  TracedLayer traced;
  const Tensor ids = traced.input("ids", {DType::kS32, {1, 4}});
  EXPECT_THAT(run(traced, reset_mask(ids, {}, DType::kF32), {{"ids", s32({1, 1, 2, 2}, {1, 4})}}), near({0, 1, 0, 1}));
}

TEST(FRnn, NeedsPaddingsForEachStep) {
  FRnn::Config config;
  config.cell_tpl = unit_cell();
  TracedLayer traced;
  const auto layer = traced.build(Tpl<FRnn>(config));
  const Tensor x = traced.input("x", {DType::kF32, {1, 3, 1}});
  EXPECT_THAT(
      [&] {
        layer->fprop(RnnInputs{.act = {x}, .padding = traced.input("p", {DType::kF32, {1, 3}}), .segment_ids = {}});
      },
      throws<ShapeError>("layer", "f32[1,3]", "[B, T, 1]"));
}

TEST(StackBiFrnn, NeedsAnEvenOutput) {
  StackBiFrnn::Config config;
  FRnn::Config network;
  network.cell_tpl = unit_cell();
  config.frnn_tpl = network;
  config.num_output_nodes = 5;
  EXPECT_THAT([&] { TracedLayer().build(Tpl<StackBiFrnn>(config)); },
              throws<ConfigError>("layer", "num_output_nodes is 5", "even"));
}

}  // namespace
}  // namespace pax
