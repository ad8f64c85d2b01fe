#include "pax/control/check_finite.h"

#include <gmock/gmock.h>

#include <limits>

#include "pax/autodiff/grad.h"
#include "pax/control/cond.h"
#include "pax/control/for_loop.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Tensors = std::vector<Tensor>;

/// What the checked program says of `function`; "" when all was finite.
std::string first_fault(const Function& function, const std::vector<HostArray>& inputs) {
  Graph graph;
  Tensors arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments.push_back(graph.argument("in" + std::to_string(i), inputs[i].type()));
  }
  for (const Tensor& result : function(arguments)) graph.output("out", result);
  const CheckedProgram checked = check_finite(*lower(graph, {}));
  const auto site = static_cast<int64_t>(run(*checked.graph, inputs).back().item());
  return site < 0 ? "" : checked.sites.at(static_cast<size_t>(site));
}

TEST(CheckFinite, NamesTheFirstOpAndItsLayer) {
  const auto f = [](const Tensors& x) {
    const Graph::PathGuard path(x[0].graph(), "lm/ffn");
    return Tensors{exp(sqrt(log(x[0]) + 1.0)) * 2.0};
  };
  EXPECT_EQ(first_fault(f, {f64({1, 2}, {2})}), "");
  EXPECT_EQ(first_fault(f, {f64({1, 0}, {2})}), "lm/ffn: log f64[2]");
  EXPECT_EQ(first_fault(f, {f64({1, 0.1}, {2})}), "lm/ffn: sqrt f64[2]");
}

TEST(CheckFinite, NamesAnArgumentThatIsNotFinite) {
  const auto f = [](const Tensors& x) { return Tensors{x[0] + x[1]}; };
  EXPECT_EQ(first_fault(f, {f64({1, 2}, {2}), f64({1, kInfinity}, {2})}), "argument in1 f64[2]");
}

TEST(CheckFinite, TakesInfiniteConstantsAsMeant) {
  const auto f = [](const Tensors& x) {
    return Tensors{softmax(select(lt(x[0], 0.0), -kInfinity, x[0])), reduce_max(x[0])};
  };
  EXPECT_EQ(first_fault(f, {f64({-1, 2, 3}, {3})}), "");
}

TEST(CheckFinite, LooksIntoLoopsAndTheirGradients) {
  const auto f = [](const Tensors& x) {
    const Tensor y = for_loop(x[0].graph(), 3, std::span(x.data(), 1), [](Tensor, std::span<const Tensor> state) {
      const Graph::PathGuard path(state[0].graph(), "x_layers");
      return Tensors{sqrt(state[0] - 1.0)};
    })[0];
    return grad(reduce_sum(y), {x[0]});
  };
  EXPECT_EQ(first_fault(f, {f64({100}, {1})}), "");
  EXPECT_EQ(first_fault(f, {f64({4}, {1})}), "x_layers: sqrt f64[1]");
}

TEST(CheckFinite, LooksIntoBranches) {
  const auto f = [](const Tensors& x) {
    return cond(
        gt(x[0], 0.0), [](std::span<const Tensor> in) { return Tensors{in[0] * 2.0}; },
        [](std::span<const Tensor> in) { return Tensors{log(in[0])}; }, x);
  };
  EXPECT_EQ(first_fault(f, {f64({1}, {})}), "");
  EXPECT_EQ(first_fault(f, {f64({-1}, {})}), "log f64[]");
}

}  // namespace
}  // namespace pax
