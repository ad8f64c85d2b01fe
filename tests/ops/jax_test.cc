#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/jax_cases.h"
#include "tests/ops/testing.h"

namespace pax {
namespace {

class JaxTest : public ::testing::TestWithParam<std::string> {};

bool near(double a, double b, double tolerance) {
  if (std::isnan(b)) return std::isnan(a);
  if (std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

TEST_P(JaxTest, OutputsAndGradientsAreEqual) {
  Graph graph;
  JaxCases cases;
  add_jax_cases(GetParam(), graph, cases);
  const std::vector<HostArray> results = run(graph, cases.inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    const std::vector<double> got = results[i].to_doubles();
    const std::vector<double> want = cases.expected[i].value.to_doubles();
    for (size_t k = 0; k < want.size(); ++k) {
      EXPECT_TRUE(near(got[k], want[k], cases.expected[i].tolerance))
          << cases.expected[i].name << " element " << k << ": " << got[k] << ", JAX has " << want[k];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, JaxTest, ::testing::ValuesIn(jax_case_ops()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace pax
