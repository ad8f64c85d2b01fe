#include "pax/control/scan.h"

#include <gmock/gmock.h>

#include "pax/autodiff/grad.h"
#include "pax/base/error.h"
#include "pax/control/remat.h"
#include "pax/ir/stablehlo.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reduce.h"
#include "pax/ops/slice.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kTimes = 3;

Tensor sum_all(Tensor x) {
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < x.rank(); ++i) dims.push_back(i);
  return reduce_sum(x, dims);
}

Tensor layer(Tensor h, Tensor w) { return tanh(checkpoint_name(einsum("bd,df->bf", exp(tanh(h)), w), "product")); }

/// loss and its gradients for x [2,4] and stacked weights [3,4,4]; `repeat` runs the layers.
std::vector<Tensor> loss_and_grads(const std::vector<Tensor>& in, const std::function<Tensor(Tensor, Tensor)>& repeat) {
  const Tensor loss = sum_all(square(repeat(in[0], in[1])));
  const std::vector<Tensor> grads = grad(loss, {in[0], in[1]});
  return {loss, grads[0], grads[1]};
}

std::vector<Tensor> looped(const std::vector<Tensor>& in, std::shared_ptr<const RematPolicy> policy) {
  return loss_and_grads(in, [&](Tensor x, Tensor w) {
    Graph& graph = x.graph();
    const int64_t loop = graph.new_loop();
    const Tensor own_w = each_iteration(w, loop);
    return scan(graph, {.length = kTimes, .remat = policy, .loop = loop}, std::span(&x, 1), {},
                [&](std::span<const Tensor> carry, std::span<const Tensor>) {
                  return ScanStep{.carry = {layer(carry[0], own_w)}, .ys = {}};
                })
        .carry[0];
  });
}

std::vector<Tensor> unrolled(const std::vector<Tensor>& in) {
  return loss_and_grads(in, [](Tensor x, Tensor w) {
    for (int64_t i = 0; i < kTimes; ++i) x = layer(x, index_dim(w, 0, i));
    return x;
  });
}

std::vector<HostArray> inputs() {
  return {random_array({DType::kF64, {2, 4}}, -1, 1, 1), random_array({DType::kF64, {kTimes, 4, 4}}, -1, 1, 2)};
}

void expect_near(const std::vector<HostArray>& a, const std::vector<HostArray>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_THAT(a[i].to_doubles(), ::testing::Pointwise(::testing::DoubleNear(tolerance), b[i].to_doubles())) << i;
  }
}

TEST(Scan, OfLayersWithTheirOwnWeightsEqualsTheLayersWrittenOut) {
  expect_near(evaluate([](const auto& in) { return looped(in, nullptr); }, inputs()), evaluate(unrolled, inputs()),
              1e-12);
}

TEST(Scan, GradientIsTheSameUnderEveryRematPolicy) {
  const auto expected = evaluate(unrolled, inputs());
  for (const auto& [type, name] : enum_names(AutodiffCheckpointType{})) {
    SCOPED_TRACE(name);
    expect_near(evaluate([&](const auto& in) { return looped(in, remat_policy(type)); }, inputs()), expected, 1e-12);
  }
}

/// Running sums of xs scaled by a constant from outside: d/dxs and d/dscale known by hand.
TEST(Scan, StackedResultsAndOuterConstantsHaveGradients) {
  const auto results = evaluate(
      [](const std::vector<Tensor>& in) {
        const Tensor xs = in[0], scale = in[1];
        const Tensor zero = scale * 0.0;
        const ScanStep step = scan(xs.graph(), {.length = 3}, std::span(&zero, 1), std::span(&xs, 1),
                                   [&](std::span<const Tensor> carry, std::span<const Tensor> x) {
                                     const Tensor next = carry[0] + x[0] * scale;
                                     return ScanStep{.carry = {next}, .ys = {next}};
                                   });
        const std::vector<Tensor> grads = grad(sum_all(step.ys[0]), {xs, scale});
        return std::vector<Tensor>{step.ys[0], grads[0], grads[1]};
      },
      {f64({1, 2, 4}, {3}), f64({10}, {})});
  EXPECT_THAT(results[0].to_doubles(), ::testing::ElementsAre(10, 30, 70));
  EXPECT_THAT(results[1].to_doubles(), ::testing::ElementsAre(30, 20, 10));
  EXPECT_DOUBLE_EQ(results[2].item(), 3 * 1 + 2 * 2 + 1 * 4);
}

TEST(Scan, RunsFromTheLastSliceWhenReversed) {
  const auto results = evaluate(
      [](const std::vector<Tensor>& in) {
        const Tensor zero = sum_all(in[0]) * 0.0;
        return scan(in[0].graph(), {.length = 3, .reverse = true}, std::span(&zero, 1), in,
                    [](std::span<const Tensor> carry, std::span<const Tensor> x) {
                      return ScanStep{.carry = {carry[0] + x[0]}, .ys = {carry[0] + x[0]}};
                    })
            .ys;
      },
      {f64({1, 2, 4}, {3})});
  EXPECT_THAT(results[0].to_doubles(), ::testing::ElementsAre(7, 6, 4));
}

TEST(Scan, InsideScanHasTheGradientOfTheLoopsWrittenOut) {
  const auto nested = [](const std::vector<Tensor>& in) {
    const Tensor x = in[0];
    const auto twice = [](Tensor value) {
      return scan(value.graph(), {.length = 2}, std::span(&value, 1), {},
                  [](std::span<const Tensor> carry, std::span<const Tensor>) {
                    return ScanStep{.carry = {tanh(carry[0]) * carry[0]}, .ys = {}};
                  })
          .carry[0];
    };
    const Tensor out = scan(x.graph(), {.length = 2}, std::span(&x, 1), {},
                            [&](std::span<const Tensor> carry, std::span<const Tensor>) {
                              return ScanStep{.carry = {twice(carry[0]) + x}, .ys = {}};
                            })
                           .carry[0];
    return std::vector<Tensor>{out, grad(sum_all(out), {x})[0]};
  };
  const auto flat = [](const std::vector<Tensor>& in) {
    Tensor out = in[0];
    for (int outer = 0; outer < 2; ++outer) {
      Tensor value = out;
      for (int inner = 0; inner < 2; ++inner) value = tanh(value) * value;
      out = value + in[0];
    }
    return std::vector<Tensor>{out, grad(sum_all(out), {in[0]})[0]};
  };
  expect_near(evaluate(nested, {f64({0.5, -1.5}, {2})}), evaluate(flat, {f64({0.5, -1.5}, {2})}), 1e-12);
}

TEST(Scan, HasAGradientOfItsGradient) {
  const auto second = [](bool loop) {
    return [loop](const std::vector<Tensor>& in) {
      Tensor x = in[0];
      const auto body = [](Tensor value) { return sine(value) * value; };
      Tensor out = x;
      if (loop) {
        out = scan(x.graph(), {.length = 2}, std::span(&x, 1), {},
                   [&](std::span<const Tensor> carry, std::span<const Tensor>) {
                     return ScanStep{.carry = {body(carry[0])}, .ys = {}};
                   })
                  .carry[0];
      } else {
        out = body(body(out));
      }
      const Tensor first = grad(sum_all(out), {x})[0];
      return std::vector<Tensor>{first, grad(sum_all(square(first)), {x})[0]};
    };
  };
  expect_near(evaluate(second(true), {f64({0.7, 1.9}, {2})}), evaluate(second(false), {f64({0.7, 1.9}, {2})}), 1e-10);
}

TEST(Scan, StacksSideResultsOfItsBody) {
  const auto results = evaluate(
      [](const std::vector<Tensor>& in) {
        Graph& graph = in[0].graph();
        scan(graph, {.length = 2}, std::span(in.data(), 1), {},
             [&](std::span<const Tensor> carry, std::span<const Tensor>) {
               graph.block(graph.current_block()).sides.push_back({"summary", "x", carry[0]});
               return ScanStep{.carry = {carry[0] * 2.0}, .ys = {}};
             });
        return std::vector<Tensor>{graph.block(0).sides.at(0).value};
      },
      {f64({3}, {})});
  EXPECT_THAT(results[0].to_doubles(), ::testing::ElementsAre(3, 6));
}

TEST(Scan, ProgramDoesNotGrowWithTheNumberOfRepetitions) {
  const auto text_size = [](int64_t times) {
    Graph graph;
    const Tensor x = graph.argument("x", {DType::kF32, {2, 4}});
    const Tensor w = graph.argument("w", {DType::kF32, {times, 4, 4}});
    const int64_t loop = graph.new_loop();
    const Tensor own_w = each_iteration(w, loop);
    const Tensor out = scan(graph, {.length = times, .loop = loop}, std::span(&x, 1), {},
                            [&](std::span<const Tensor> carry, std::span<const Tensor>) {
                              return ScanStep{.carry = {layer(carry[0], own_w)}, .ys = {}};
                            })
                           .carry[0];
    graph.output("grad", grad(sum_all(out), {w})[0]);
    return to_stablehlo(*lower(graph, {})).size();
  };
  EXPECT_LT(text_size(32), text_size(2) * 1.05);
}

TEST(Scan, NamesBothTypesWhenTheCarryChanges) {
  Graph graph;
  const Tensor x = graph.argument("x", {DType::kF32, {2, 4}});
  const auto run = [&] {
    scan(graph, {.length = 2}, std::span(&x, 1), {}, [](std::span<const Tensor> carry, std::span<const Tensor>) {
      return ScanStep{.carry = {sum_all(carry[0])}, .ys = {}};
    });
  };
  try {
    run();
    FAIL() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("f32[2,4]"), HasSubstr("f32[]"), HasSubstr("scan")));
  }
}

TEST(EachIteration, IsAnErrorOutsideOfItsLoop) {
  Graph graph;
  const Tensor w = graph.argument("w", {DType::kF32, {3, 4}});
  graph.output("w0", each_iteration(w, graph.new_loop()) * 2.0);
  EXPECT_THROW(lower(graph, {}), ShapeError);
}

/// How many values of an iteration a loop over "out_proj" and "context" keeps for its gradient, its carry apart.
size_t values_kept(AutodiffCheckpointType type) {
  Graph graph;
  const Tensor x = graph.argument("x", {DType::kF32, {4}});
  const auto body = [](std::span<const Tensor> carry, std::span<const Tensor>) {
    const Tensor context = checkpoint_name(sine(exp(carry[0])), "context");
    return ScanStep{.carry = {tanh(checkpoint_name(cosine(context), "out_proj"))}, .ys = {}};
  };
  const ScanOptions options{.length = 3, .remat = remat_policy(type)};
  const Tensor last = scan(graph, options, std::span(&x, 1), {}, body).carry[0];
  grad(sum_all(last), {x});
  return graph.node(graph.value(last.id()).node).results.size() - 2;
}

TEST(RematPolicies, KeepTheTensorsThatLayersGaveTheirNames) {
  EXPECT_EQ(values_kept(AutodiffCheckpointType::kSaveNothing), 0U);
  EXPECT_EQ(values_kept(AutodiffCheckpointType::kSaveOutProj), 1U);
  EXPECT_EQ(values_kept(AutodiffCheckpointType::kSaveContextAndOutProj), 2U);
  EXPECT_GT(values_kept(AutodiffCheckpointType::kSaveEverything), 2U);
}

TEST(Remat, GivesTheSameGradientAndKeepsOnlyWhatThePolicyNames) {
  const auto with = [](std::shared_ptr<const RematPolicy> policy) {
    return [policy](const std::vector<Tensor>& in) {
      const Tensor out = remat(in[0].graph(), policy, in, [](std::span<const Tensor> x) {
        return std::vector<Tensor>{layer(layer(x[0], x[1]), x[1])};
      })[0];
      return grad(sum_all(square(out)), {in[0], in[1]});
    };
  };
  const std::vector<HostArray> in{random_array({DType::kF64, {2, 4}}, -1, 1, 3),
                                  random_array({DType::kF64, {4, 4}}, -1, 1, 4)};
  const auto expected = evaluate(
      [](const std::vector<Tensor>& x) {
        return grad(sum_all(square(layer(layer(x[0], x[1]), x[1]))), {x[0], x[1]});
      },
      in);
  for (const auto type : {AutodiffCheckpointType::kSaveNothing, AutodiffCheckpointType::kSaveDotOnly}) {
    expect_near(evaluate(with(remat_policy(type)), in), expected, 1e-12);
  }
}

}  // namespace
}  // namespace pax
