// Programs of constants alone, which compilers compute themselves.

#include <gmock/gmock.h>

#include <filesystem>

#include "pax/autodiff/grad.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

using ::testing::ElementsAre;
using Tensors = std::vector<Tensor>;

class Constants : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto plugin = std::filesystem::path(PAX_DEPS_DIR) / "plugins" / "cpu" / GetParam() / "plugin.so";
    if (!std::filesystem::exists(plugin)) GTEST_SKIP() << "scripts/setup has not installed it";
  }
};

TEST_P(Constants, CompareWithTheirSign) {
  const auto f = [](const Tensors& in) {
    Graph& graph = in[0].graph();
    const Tensor minus_one = full(graph, {DType::kS32, {}}, -1);
    const Tensor large = full(graph, {DType::kU32, {}}, 4294967295.0);
    return Tensors{select(lt(minus_one, 0.0), in[0], 0.0), select(gt(large, 1.0), in[0], 0.0)};
  };
  const auto results = evaluate(f, {f64({5}, {})}, {}, GetParam());
  EXPECT_EQ(results[0].item(), 5);
  EXPECT_EQ(results[1].item(), 5);
}

TEST_P(Constants, HaveTheGradientsOfArguments) {
  const auto second = [](Tensor x) {
    const Tensor ids = constant(x.graph(), i32({4, 0, 0, 2}, {4}));
    const Tensor first = grad(reduce_sum(square(square(take(x, ids, 0)))), {x})[0];
    return grad(reduce_sum(square(first)), {x})[0];
  };
  const HostArray numbers = f64({1, 2, 3, 4, 5}, {5});
  const auto f = [&](const Tensors& in) { return Tensors{second(in[0]), second(constant(in[0].graph(), numbers))}; };
  const auto results = evaluate(f, {numbers}, {}, GetParam());
  EXPECT_EQ(results[0].to_doubles(), results[1].to_doubles());
}

INSTANTIATE_TEST_SUITE_P(All, Constants,
                         ::testing::Values("xla-cpu-pjrt", "fastatomstruct-xla-cpu", "lammps-jax-pjrt-cpu"),
                         [](const auto& info) { return info.param.substr(0, info.param.find('-')); });

}  // namespace
}  // namespace pax
