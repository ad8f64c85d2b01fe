#include "pax/autodiff/grad.h"

#include <gmock/gmock.h>

#include "pax/base/error.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

using ::testing::ElementsAre;

std::vector<double> value_of(const Function& function, const std::vector<HostArray>& inputs) {
  return evaluate(function, inputs)[0].to_doubles();
}

TEST(Grad, SumsOverAllUsesOfAValue) {
  const auto x_times_x_plus_3x = [](const std::vector<Tensor>& in) {
    return grad(in[0] * in[0] + 3.0 * in[0], {in[0]});
  };
  EXPECT_THAT(value_of(x_times_x_plus_3x, {f64({5}, {})}), ElementsAre(13));
}

TEST(Grad, IsZeroWhereTheLossDoesNotDepend) {
  const auto f = [](const std::vector<Tensor>& in) { return grad(in[0], {in[1]}); };
  EXPECT_THAT(value_of(f, {f64({5}, {}), f64({1, 2}, {2})}), ElementsAre(0, 0));
}

TEST(Grad, StopsAtStopGradient) {
  const auto f = [](const std::vector<Tensor>& in) { return grad(in[0] * stop_gradient(in[0]), {in[0]}); };
  EXPECT_THAT(value_of(f, {f64({5}, {})}), ElementsAre(5));
}

TEST(Grad, OfAGradientIsTheSecondDerivative) {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor first = grad(in[0] * in[0] * in[0], {in[0]})[0];
    return grad(first, {in[0]});
  };
  EXPECT_THAT(value_of(f, {f64({5}, {})}), ElementsAre(30));
}

TEST(Grad, RefusesWhatIsNoFloatingScalar) {
  Graph graph;
  const Tensor vector = graph.argument("v", {DType::kF32, {2}});
  const Tensor integer = graph.argument("i", {DType::kS32, {}});
  EXPECT_THROW(grad(vector, {vector}), ShapeError);
  EXPECT_THROW(grad(convert(integer, DType::kF32), {integer}), ShapeError);
}

TEST(Grad, TakesAThousandLayersWithoutRecursion) {
  const auto f = [](const std::vector<Tensor>& in) {
    Tensor x = in[0];
    for (int i = 0; i < 1000; ++i) x = x * 1.0 + 0.001;
    return grad(x, {in[0]});
  };
  EXPECT_THAT(value_of(f, {f64({5}, {})}), ElementsAre(1));
}

}  // namespace
}  // namespace pax
