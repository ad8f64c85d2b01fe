#include "pax/control/cond.h"

#include <gmock/gmock.h>

#include "pax/autodiff/grad.h"
#include "pax/autodiff/vmap.h"
#include "pax/base/error.h"
#include "pax/control/for_loop.h"
#include "pax/control/scan.h"
#include "pax/control/while_loop.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;

std::string error_of(const std::function<void()>& build) {
  try {
    build();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "no error";
}

/// x² w where x > 1, else sin x.
Tensor piecewise(Tensor x, Tensor w) {
  return cond(
      gt(x, 1.0), [&](std::span<const Tensor>) { return Tensors{square(x) * w}; },
      [&](std::span<const Tensor>) { return Tensors{sine(x)}; })[0];
}

TEST(Cond, RunsTheBranchOfItsPredicateAndGivesItsGradients) {
  const auto f = [](const Tensors& in) {
    const Tensor y = piecewise(in[0], in[1]);
    const Tensors grads = grad(y, {in[0], in[1]});
    return Tensors{y, grads[0], grads[1]};
  };
  const auto large = evaluate(f, {f64({3}, {}), f64({2}, {})});
  EXPECT_EQ(large[0].item(), 18);
  EXPECT_EQ(large[1].item(), 12);
  EXPECT_EQ(large[2].item(), 9);
  const auto small = evaluate(f, {f64({0}, {}), f64({2}, {})});
  EXPECT_EQ(small[0].item(), 0);
  EXPECT_EQ(small[1].item(), 1);
  EXPECT_EQ(small[2].item(), 0);
}

TEST(Cond, HasAGradientOfItsGradient) {
  const auto f = [](const Tensors& in) { return grad(grad(piecewise(in[0], in[1]), {in[0]})[0], {in[0], in[1]}); };
  const auto results = evaluate(f, {f64({3}, {}), f64({2}, {})});
  EXPECT_EQ(results[0].item(), 4);
  EXPECT_EQ(results[1].item(), 6);
}

TEST(Cond, ChoosesPerElementUnderVmap) {
  const auto f = [](const Tensors& in) {
    const Tensor y = vmap(in[0].graph(), in, {.dims = {0, std::nullopt}},
                          [](std::span<const Tensor> x) { return Tensors{piecewise(x[0], x[1])}; })[0];
    return Tensors{y, grad(reduce_sum(y), {in[0]})[0]};
  };
  const auto results = evaluate(f, {f64({3, 0}, {2}), f64({2}, {})});
  EXPECT_THAT(results[0].to_doubles(), ElementsAre(18, 0));
  EXPECT_THAT(results[1].to_doubles(), ElementsAre(12, 1));
}

TEST(Cond, StaysABranchUnderVmapWhenAllElementsShareThePredicate) {
  const auto f = [](const Tensors& in) {
    return vmap(in[0].graph(), in, {.dims = {std::nullopt, 0}},
                [](std::span<const Tensor> x) { return Tensors{piecewise(x[0], x[1])}; });
  };
  EXPECT_THAT(evaluate(f, {f64({3}, {}), f64({1, 2}, {2})})[0].to_doubles(), ElementsAre(9, 18));
  EXPECT_THAT(evaluate(f, {f64({0}, {}), f64({1, 2}, {2})})[0].to_doubles(), ElementsAre(0, 0));
}

TEST(Cond, RunsInsideScan) {
  const auto f = [](const Tensors& in) {
    const Tensor last = for_loop(in[0].graph(), 3, std::span(in.data(), 1), [&](Tensor, std::span<const Tensor> state) {
      return Tensors{piecewise(state[0], in[1])};
    })[0];
    const Tensors grads = grad(last, {in[0], in[1]});
    return Tensors{last, grads[0], grads[1]};
  };
  // ((x² w)² w)² w = x⁸ w⁷.
  const auto results = evaluate(f, {f64({2}, {}), f64({1.5}, {})});
  const double w7 = std::pow(1.5, 7);
  EXPECT_NEAR(results[0].item(), 256 * w7, 1e-9);
  EXPECT_NEAR(results[1].item(), 8 * 128 * w7, 1e-9);
  EXPECT_NEAR(results[2].item(), 7 * 256 * std::pow(1.5, 6), 1e-9);
}

TEST(Cond, SaysWhatIsWrong) {
  Graph graph;
  const Tensor x = graph.argument("x", {DType::kF32, {2}});
  const Tensor holds = graph.argument("holds", {DType::kPred, {}});
  const auto same = [](std::span<const Tensor> in) { return Tensors(in.begin(), in.end()); };
  const auto sum = [](std::span<const Tensor> in) { return Tensors{reduce_sum(in[0])}; };
  const auto none = [](std::span<const Tensor>) { return Tensors{}; };
  EXPECT_THAT(error_of([&] { cond(x, same, same, std::span(&x, 1)); }), HasSubstr("bool scalar but is f32[2]"));
  EXPECT_THAT(error_of([&] { cond(holds, same, sum, std::span(&x, 1)); }),
              HasSubstr("result 0 is f32[] in branch 0 but f32[2] in branch 1"));
  EXPECT_THAT(error_of([&] { cond(holds, same, none, std::span(&x, 1)); }),
              HasSubstr("branch 0 gives 0 results but branch 1 gives 1"));
  EXPECT_THAT(error_of([&] { switch_case(convert(holds, DType::kS32), {}); }), HasSubstr("no branches"));
}

Tensor times_branch(Tensor index, Tensor x) {
  std::vector<Branch> branches;
  for (const double factor : {1.0, 10.0, 100.0}) {
    branches.push_back([factor](std::span<const Tensor> in) { return Tensors{in[0] * factor}; });
  }
  return switch_case(index, branches, std::span(&x, 1))[0];
}

TEST(SwitchCase, TakesTheLastBranchOutOfRange) {
  const auto one = [](const Tensors& in) { return Tensors{times_branch(in[0], in[1])}; };
  const auto many = [](const Tensors& in) {
    return vmap(in, [](std::span<const Tensor> x) { return Tensors{times_branch(x[0], x[1])}; });
  };
  const std::vector<double> indices = {0, 1, 2, 3, -1};
  const auto together = evaluate(many, {i32(indices, {5}), f64({1, 2, 3, 4, 5}, {5})});
  EXPECT_THAT(together[0].to_doubles(), ElementsAre(1, 20, 300, 400, 500));
  for (size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(evaluate(one, {i32({indices[i]}, {}), f64({static_cast<double>(i + 1)}, {})})[0].item(),
              together[0].to_doubles()[i]);
  }
}

TEST(ForLoop, PassesItsIndexAndHasAGradient) {
  // x 0! + … : state = state * x + index, three times: x³ s + 0 x² + 1 x + 2.
  const auto f = [](const Tensors& in) {
    const Tensor last = for_loop(in[0].graph(), 3, std::span(&in[0], 1), [&](Tensor index, std::span<const Tensor> s) {
      return Tensors{s[0] * in[1] + convert(index, DType::kF64)};
    })[0];
    const Tensors grads = grad(last, {in[0], in[1]});
    return Tensors{last, grads[0], grads[1]};
  };
  const auto results = evaluate(f, {f64({5}, {}), f64({2}, {})});
  EXPECT_EQ(results[0].item(), 8 * 5 + 2 + 2);
  EXPECT_EQ(results[1].item(), 8);
  EXPECT_EQ(results[2].item(), 3 * 4 * 5 + 1);
}

const LoopBody kDoubleUpTo100{.condition = [](std::span<const Tensor> state) { return lt(state[0], 100.0); },
                              .turn = [](std::span<const Tensor> state) { return Tensors{state[0] * 2.0}; }};

TEST(BoundedWhileLoop, StopsWhereTheWhileLoopDoesAndHasAGradient) {
  const auto f = [](const Tensors& in) {
    const Tensor last = bounded_while_loop(in[0].graph(), 10, in, kDoubleUpTo100)[0];
    return Tensors{last, grad(last, {in[0]})[0]};
  };
  const auto results = evaluate(f, {f64({3}, {})});
  EXPECT_EQ(results[0].item(), 192);
  EXPECT_EQ(results[1].item(), 64);
}

TEST(WhileLoop, SaysHowToGetAGradient) {
  Graph graph;
  const Tensor x = graph.argument("x", {DType::kF32, {}});
  const Tensor last = while_loop(graph, std::span(&x, 1), kDoubleUpTo100.condition, kDoubleUpTo100.turn)[0];
  EXPECT_THAT(error_of([&] { grad(last, {x}); }), HasSubstr("use for_loop or bounded_while_loop"));
}

TEST(WhileLoop, RunsEachElementOfABatchForItsOwnTurns) {
  const auto f = [](const Tensors& in) {
    return vmap(in, [](std::span<const Tensor> x) {
      const Tensors init{x[0], full_like(x[0], 0)};
      return while_loop(x[0].graph(), init, kDoubleUpTo100.condition, [](std::span<const Tensor> state) {
        return Tensors{state[0] * 2.0, state[1] + 1.0};
      });
    });
  };
  const auto results = evaluate(f, {f64({3, 70, 200}, {3})});
  EXPECT_THAT(results[0].to_doubles(), ElementsAre(192, 140, 200));
  EXPECT_THAT(results[1].to_doubles(), ElementsAre(6, 1, 0));
}

TEST(WhileLoop, OfAFixedNumberOfTurnsStaysOneLoopUnderVmap) {
  const auto f = [](const Tensors& in) {
    return vmap(in, [](std::span<const Tensor> x) {
      const Tensors init{full(x[0].graph(), {DType::kS32, {}}, 0), x[0]};
      return Tensors{while_loop(
          x[0].graph(), init, [](std::span<const Tensor> state) { return lt(state[0], 3.0); },
          [](std::span<const Tensor> state) {
            return Tensors{state[0] + 1.0, state[1] * state[1]};
          })[1]};
    });
  };
  EXPECT_THAT(evaluate(f, {f64({1, 2}, {2})})[0].to_doubles(), ElementsAre(1, 256));
}

}  // namespace
}  // namespace pax
