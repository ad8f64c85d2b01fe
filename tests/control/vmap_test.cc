#include "pax/autodiff/vmap.h"

#include <gmock/gmock.h>

#include "pax/autodiff/grad.h"
#include "pax/control/remat.h"
#include "pax/control/scan.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reduce.h"
#include "pax/ops/slice.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

using Tensors = std::vector<Tensor>;
constexpr int64_t kBatch = 3;
constexpr int64_t kTimes = 4;

/// Layers over a scanned input: state [4], own weights [times,4,4] as slices of a stack, xs [times,4], a bias from
/// outside; gives the last state and what every iteration hands out.
Tensors layers(const Tensors& in, const ScanOptions& how) {
  Graph& graph = in[0].graph();
  ScanOptions options = how;
  options.length = kTimes;
  options.loop = graph.new_loop();
  const Tensor own_w = each_iteration(in[1], options.loop);
  const ScanStep step = scan(graph, options, std::span(&in[0], 1), std::span(&in[2], 1),
                             [&](std::span<const Tensor> carry, std::span<const Tensor> x) {
                               const Tensor h = checkpoint_name(einsum("d,df->f", carry[0], own_w), "product");
                               const Tensor next = tanh(h + x[0] * in[3]);
                               return ScanStep{.carry = {next}, .ys = {next * 2.0}};
                             });
  return {step.carry[0], step.ys[0]};
}

Tensors with_gradients(const Tensors& in, const ScanOptions& how) {
  Tensors results = layers(in, how);
  const Tensors grads = grad(reduce_sum(square(results[0])) + reduce_sum(results[1]), in);
  results.insert(results.end(), grads.begin(), grads.end());
  return results;
}

const std::vector<Shape> kShapes = {{4}, {kTimes, 4, 4}, {kTimes, 4}, {4}};

/// The batch of `which` inputs together equals its elements one by one, by `run_one`.
void expect_batches(const std::vector<bool>& which, const std::function<Tensors(const Tensors&)>& run_one) {
  std::vector<HostArray> numbers;
  for (size_t i = 0; i < kShapes.size(); ++i) {
    const Shape shape = which[i] ? kShapes[i].prefixed(std::span(&kBatch, 1)) : kShapes[i];
    numbers.push_back(random_array({DType::kF64, shape}, -1, 1, i + 1));
  }
  const auto together = evaluate(
      [&](const Tensors& in) {
        VmapOptions options;
        for (const bool batched : which) options.dims.push_back(batched ? std::optional<int64_t>(0) : std::nullopt);
        return vmap(in[0].graph(), in, options,
                    [&](std::span<const Tensor> x) { return run_one(Tensors(x.begin(), x.end())); });
      },
      numbers);
  const auto alone = evaluate(
      [&](const Tensors& in) {
        std::vector<Tensors> all;
        for (int64_t at = 0; at < kBatch; ++at) {
          Tensors one;
          for (size_t i = 0; i < in.size(); ++i) one.push_back(which[i] ? index_dim(in[i], 0, at) : in[i]);
          all.push_back(run_one(one));
        }
        Tensors stacked;
        for (size_t i = 0; i < all[0].size(); ++i) stacked.push_back(stack({all[0][i], all[1][i], all[2][i]}, 0));
        return stacked;
      },
      numbers);
  ASSERT_EQ(together.size(), alone.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    ASSERT_EQ(together[i].shape(), alone[i].shape()) << i;
    EXPECT_THAT(together[i].to_doubles(), ::testing::Pointwise(::testing::DoubleNear(1e-12), alone[i].to_doubles()))
        << "result " << i;
  }
}

std::vector<std::vector<bool>> choices() {
  return {{true, true, true, true},
          {true, false, false, false},
          {false, true, false, false},
          {false, false, true, false},
          {false, false, false, true}};
}

TEST(VmapOfScan, EqualsTheLoopsOneByOneWhicheverInputHasTheBatch) {
  for (const auto& which : choices()) {
    SCOPED_TRACE(::testing::PrintToString(which));
    expect_batches(which, [](const Tensors& in) { return layers(in, {}); });
  }
}

TEST(VmapOfScan, GradientInsideEqualsTheGradientsOneByOne) {
  for (const auto& which : choices()) {
    SCOPED_TRACE(::testing::PrintToString(which));
    expect_batches(which, [](const Tensors& in) { return with_gradients(in, {}); });
  }
}

TEST(VmapOfScan, TakesRematAndReverse) {
  const ScanOptions options{.reverse = true, .remat = remat_policy(AutodiffCheckpointType::kSaveDotOnly)};
  expect_batches({true, true, true, true}, [&](const Tensors& in) { return with_gradients(in, options); });
}

TEST(VmapOfRemat, EqualsItsElementsOneByOne) {
  const auto policy = remat_policy(AutodiffCheckpointType::kSaveNothing);
  expect_batches({true, false, false, true}, [&](const Tensors& in) {
    const Tensor y =
        remat(in[0].graph(), policy, in, [](std::span<const Tensor> x) { return Tensors{tanh(x[0]) * sine(x[3])}; })[0];
    const Tensors grads = grad(reduce_sum(square(y)), {in[0], in[3]});
    return Tensors{y, grads[0], grads[1]};
  });
}

/// The gradient of a vmap around a loop is the gradient of the sum over its elements.
TEST(GradOfVmap, GoesThroughScan) {
  std::vector<HostArray> numbers;
  for (size_t i = 0; i < kShapes.size(); ++i) {
    const Shape shape = i == 0 ? kShapes[i].prefixed(std::span(&kBatch, 1)) : kShapes[i];
    numbers.push_back(random_array({DType::kF64, shape}, -1, 1, i + 1));
  }
  const auto outside = evaluate(
      [](const Tensors& in) {
        const Tensors y = vmap(in[0].graph(), in, {.dims = {0, std::nullopt, std::nullopt, std::nullopt}},
                               [](std::span<const Tensor> x) { return layers(Tensors(x.begin(), x.end()), {}); });
        return grad(reduce_sum(square(y[0])) + reduce_sum(y[1]), in);
      },
      numbers);
  const auto one_by_one = evaluate(
      [](const Tensors& in) {
        Tensor loss;
        for (int64_t at = 0; at < kBatch; ++at) {
          const Tensors y = layers({index_dim(in[0], 0, at), in[1], in[2], in[3]}, {});
          const Tensor term = reduce_sum(square(y[0])) + reduce_sum(y[1]);
          loss = loss ? loss + term : term;
        }
        return grad(loss, in);
      },
      numbers);
  for (size_t i = 0; i < outside.size(); ++i) {
    EXPECT_THAT(outside[i].to_doubles(), ::testing::Pointwise(::testing::DoubleNear(1e-12), one_by_one[i].to_doubles()))
        << i;
  }
}

}  // namespace
}  // namespace pax
