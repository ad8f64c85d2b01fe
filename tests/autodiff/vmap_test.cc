#include "pax/autodiff/vmap.h"

#include <gmock/gmock.h>

#include "pax/autodiff/custom_vjp.h"
#include "pax/autodiff/grad.h"
#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/random.h"
#include "pax/ops/reduce.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

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

TEST(Vmap, MovesTheBatchToTheFrontFromWhereItIs) {
  const auto sums = [](const Tensors& in) {
    return vmap(in[0].graph(), in, {.dims = {-1}}, [](std::span<const Tensor> x) { return Tensors{reduce_sum(x[0])}; });
  };
  EXPECT_THAT(evaluate(sums, {f64({1, 2, 3, 4, 5, 6}, {2, 3})})[0].to_doubles(), ElementsAre(5, 7, 9));
}

TEST(Vmap, GivesTheGradientOfEveryExample) {
  // d/dw (w x - y)² = 2 x (w x - y), one example each.
  const auto per_example = [](const Tensors& in) {
    return vmap(in[0].graph(), in, {.dims = {std::nullopt, 0, 0}},
                [](std::span<const Tensor> x) { return grad(square(x[0] * x[1] - x[2]), {x[0]}); });
  };
  EXPECT_THAT(evaluate(per_example, {f64({3}, {}), f64({1, 2}, {2}), f64({1, 1}, {2})})[0].to_doubles(),
              ElementsAre(4, 20));
}

TEST(Vmap, HasAGradient) {
  const auto f = [](const Tensors& in) {
    const Tensor cubes = vmap(in, [](std::span<const Tensor> x) { return Tensors{x[0] * x[0] * x[0]}; })[0];
    return grad(reduce_sum(cubes), {in[0]});
  };
  EXPECT_THAT(evaluate(f, {f64({1, 2}, {2})})[0].to_doubles(), ElementsAre(3, 12));
}

TEST(Vmap, InsideVmapRunsOverBothBatches) {
  const auto outer_product = [](const Tensors& in) {
    return vmap(in[0].graph(), in, {.dims = {0, std::nullopt}}, [](std::span<const Tensor> x) {
      return vmap(x[0].graph(), x, {.dims = {std::nullopt, 0}},
                  [](std::span<const Tensor> y) { return Tensors{y[0] * y[1]}; });
    });
  };
  EXPECT_THAT(evaluate(outer_product, {f64({1, 2}, {2}), f64({3, 5}, {2})})[0].to_doubles(), ElementsAre(3, 5, 6, 10));
}

TEST(Vmap, RepeatsResultsThatAreTheSameForAll) {
  const auto f = [](const Tensors& in) {
    return vmap(std::span(in).first(1), [&](std::span<const Tensor>) { return Tensors{in[1] * 2.0}; });
  };
  EXPECT_THAT(evaluate(f, {f64({1, 2}, {2}), f64({7}, {})})[0].to_doubles(), ElementsAre(14, 14));
}

TEST(Vmap, DrawsTheSameNumbersFromOneKeyAndOthersFromOthers) {
  const auto f = [](const Tensors& in) {
    Graph& graph = in[0].graph();
    const Tensor key = random_key(graph, 3);
    const Tensor shared = vmap(in, [&](std::span<const Tensor>) {
      return Tensors{random_uniform(key, {DType::kF32, {}})};
    })[0];
    const Tensor own = vmap(in, [&](std::span<const Tensor> x) {
      return Tensors{random_uniform(fold_in(key, convert(x[0], DType::kU32)), {DType::kF32, {}})};
    })[0];
    return Tensors{shared, own};
  };
  const auto results = evaluate(f, {i32({0, 1}, {2})});
  EXPECT_EQ(results[0].to_doubles()[0], results[0].to_doubles()[1]);
  EXPECT_NE(results[1].to_doubles()[0], results[1].to_doubles()[1]);
}

TEST(Vmap, StacksSideResults) {
  const auto f = [](const Tensors& in) {
    Graph& graph = in[0].graph();
    vmap(in, [&](std::span<const Tensor> x) {
      graph.block(graph.current_block()).sides.push_back({"summary", "twice", x[0] * 2.0});
      return Tensors{};
    });
    return Tensors{graph.block(0).sides.at(0).value};
  };
  EXPECT_THAT(evaluate(f, {f64({1, 2}, {2})})[0].to_doubles(), ElementsAre(2, 4));
}

TEST(Vmap, SaysWhenSizesDifferOrAreMissing) {
  Graph graph;
  const Tensors two{graph.argument("a", {DType::kF32, {2}}), graph.argument("b", {DType::kF32, {3}})};
  const auto identity = [](std::span<const Tensor> x) { return Tensors(x.begin(), x.end()); };
  EXPECT_THAT(error_of([&] { vmap(two, identity); }), HasSubstr("input 1 is f32[3]: 3 elements, but there are 2"));
  EXPECT_THAT(error_of([&] {
                vmap(graph, two, {.dims = {std::nullopt, std::nullopt}}, identity);
              }),
              HasSubstr("give `size`"));
  EXPECT_THAT(error_of([&] { vmap(graph, two, {.dims = {0}}, identity); }),
              HasSubstr("2 inputs, but dimensions for 1"));
  EXPECT_THAT(error_of([&] { vmap(graph, two, {.dims = {1, 0}}, identity); }), HasSubstr("dimension 1 does not exist"));
}

/// x³ whose gradient is said to be 7 x.
Tensor odd_cube(Tensor x) {
  return custom_vjp(
      x.graph(), std::span(&x, 1),
      [](std::span<const Tensor> in) {
        return WithResiduals{.results = {in[0] * in[0] * in[0]}, .residuals = {in[0]}};
      },
      [](std::span<const Tensor> residuals, std::span<const Tensor> cotangents) {
        return Grads{cotangents[0] * residuals[0] * 7.0};
      })[0];
}

TEST(CustomVjp, HasTheValueOfItsFunctionAndTheGradientItIsGiven) {
  const auto f = [](const Tensors& in) { return Tensors{odd_cube(in[0]), grad(odd_cube(in[0]), {in[0]})[0]}; };
  const auto results = evaluate(f, {f64({2}, {})});
  EXPECT_EQ(results[0].item(), 8);
  EXPECT_EQ(results[1].item(), 14);
}

TEST(CustomVjp, IsDifferentiatedTwiceThroughItsGradient) {
  const auto f = [](const Tensors& in) { return grad(grad(odd_cube(in[0]), {in[0]})[0], {in[0]}); };
  EXPECT_EQ(evaluate(f, {f64({2}, {})})[0].item(), 7);
}

TEST(CustomVjp, RunsOnABatchInsideAndOutsideTheGradient) {
  const auto inside = [](const Tensors& in) {
    return vmap(in, [](std::span<const Tensor> x) { return grad(odd_cube(x[0]), {x[0]}); });
  };
  const auto outside = [](const Tensors& in) {
    return grad(reduce_sum(vmap(in, [](std::span<const Tensor> x) { return Tensors{odd_cube(x[0])}; })[0]), {in[0]});
  };
  EXPECT_THAT(evaluate(inside, {f64({1, 2}, {2})})[0].to_doubles(), ElementsAre(7, 14));
  EXPECT_THAT(evaluate(outside, {f64({1, 2}, {2})})[0].to_doubles(), ElementsAre(7, 14));
}

TEST(CustomVjp, SumsTheGradientOfWhatAllElementsShare) {
  const auto f = [](const Tensors& in) {
    const Tensor products = vmap(in[0].graph(), in, {.dims = {0, std::nullopt}}, [](std::span<const Tensor> x) {
      return custom_vjp(
          x[0].graph(), x,
          [](std::span<const Tensor> y) {
            return WithResiduals{.results = {y[0] * y[1]}, .residuals = {y[0], y[1]}};
          },
          [](std::span<const Tensor> residuals, std::span<const Tensor> cotangents) {
            return Grads{cotangents[0] * residuals[1], cotangents[0] * residuals[0]};
          });
    })[0];
    return grad(reduce_sum(products), {in[0], in[1]});
  };
  const auto results = evaluate(f, {f64({1, 2}, {2}), f64({5}, {})});
  EXPECT_THAT(results[0].to_doubles(), ElementsAre(5, 5));
  EXPECT_EQ(results[1].item(), 3);
}

}  // namespace
}  // namespace pax
