#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/ops/dot.h"
#include "tests/kernels/testing.h"

namespace pax {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Sum {
  std::string equation;
  Shape a, b;
};

class EverySum : public ::testing::TestWithParam<Sum> {};

/// The product by the kernel against the plugin's own.
void expect_equal(const Sum& sum, DType dtype, double tolerance) {
  const std::vector<HostArray> inputs{normal({dtype, sum.a}, 1), normal({dtype, sum.b}, 2)};
  const Function function = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{einsum(sum.equation, in[0], in[1])};
  };
  const Compiled ours = run_for(all_kernels(), function, inputs);
  EXPECT_THAT(ours.text, HasSubstr("pax_product"));
  EXPECT_LT(difference(ours.results[0], run_for({}, function, inputs).results[0]), tolerance);
}

TEST_P(EverySum, EqualsThePluginsInF32) { expect_equal(GetParam(), DType::kF32, 1e-6); }
TEST_P(EverySum, EqualsThePluginsInBf16) { expect_equal(GetParam(), DType::kBF16, 1e-2); }

INSTANTIATE_TEST_SUITE_P(Products, EverySum,
                         ::testing::Values(Sum{"btd,df->btf", {2, 67, 130}, {130, 90}},
                                           Sum{"btd,btf->df", {2, 67, 130}, {2, 67, 90}},
                                           Sum{"btf,df->btd", {2, 67, 90}, {130, 90}},
                                           Sum{"btd,dnh->btnh", {2, 67, 130}, {130, 3, 33}},
                                           Sum{"btnh,dnh->btd", {2, 67, 3, 33}, {130, 3, 33}},
                                           Sum{"btnh,bsnh->bnts", {3, 90, 4, 75}, {3, 99, 4, 75}},
                                           Sum{"bnts,bsnh->bnth", {3, 4, 90, 99}, {3, 99, 4, 65}},
                                           Sum{"egcm,emf->egcf", {3, 2, 80, 70}, {3, 70, 99}}));

class EveryPlugin : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPlugin, RunsKernels) {
  const std::vector<HostArray> inputs{normal({DType::kF32, {100, 100}}, 1), normal({DType::kF32, {100, 100}}, 2)};
  const Function function = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{einsum("ab,bc->ac", in[0], in[1])};
  };
  EXPECT_LT(difference(run_for(all_kernels(), function, inputs, GetParam()).results[0],
                       run_for({}, function, inputs, GetParam()).results[0]),
            1e-6);
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryPlugin,
                         ::testing::Values("xla-cpu-pjrt", "lammps-jax-pjrt-cpu", "fastatomstruct-xla-cpu"));

TEST(Kernels, AreNotUsedOnAMesh) {
  Graph graph;
  const Tensor a = graph.argument("a", {DType::kF32, {128, 128}});
  graph.output("out", einsum("ab,bc->ac", a, a));
  const Target target{.kernels = true, .tile_products = true, .partitioned = true};
  EXPECT_THAT(program_text(*lower(graph, target)).stablehlo, Not(HasSubstr("pax_product")));
}

TEST(Kernels, MayBeRegisteredAgain) {
  const auto mesh = kernel_mesh("");
  EXPECT_TRUE(register_kernels(*mesh->client().plugin()));
}

}  // namespace
}  // namespace pax
