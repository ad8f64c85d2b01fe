#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/ir/stablehlo.h"
#include "pax/ir/transform.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/random.h"

namespace pax {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The text of a program with one result made of arguments of f32.
std::string text_of(const std::vector<Shape>& shapes, Tensor (*build)(const std::vector<Tensor>&),
                    const Target& target = {}, const StablehloOptions& options = {}) {
  Graph graph;
  std::vector<Tensor> x;
  for (size_t i = 0; i < shapes.size(); ++i) {
    x.push_back(graph.argument("x" + std::to_string(i), {DType::kF32, shapes[i]}));
  }
  graph.output("y", build(x));
  return to_stablehlo(*lower(graph, target), options);
}

Tensor project(const std::vector<Tensor>& x) { return einsum("btd,df->btf", x); }

TEST(DotForms, AreProductsOfMatricesOnCpu) {
  const std::string text = text_of({{2, 3, 4}, {4, 5}}, project);
  EXPECT_THAT(text, HasSubstr("(tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>"));
}

TEST(DotForms, KeepTheirDimensionsOverAMesh) {
  const std::string text = text_of({{2, 3, 4}, {4, 5}}, project, {.partitioned = true});
  EXPECT_THAT(text, HasSubstr("(tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>"));
}

TEST(DotForms, KeepTheirDimensionsOnOtherPlatforms) {
  const std::string text = text_of({{2, 3, 4}, {4, 5}}, project, {.platform = Target::Platform::kTpu});
  EXPECT_THAT(text, HasSubstr("(tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>"));
}

TEST(DotForms, SpareATransposeByTheOrderOfOperands) {
  const std::string text =
      text_of({{4, 5}, {2, 3, 4}}, [](const std::vector<Tensor>& x) { return einsum("df,btd->btf", x); });
  EXPECT_THAT(text, Not(HasSubstr("transpose")));
}

TEST(DotForms, MultiplyElementsWhereNothingIsSummed) {
  const std::string text = text_of({{2, 3}, {3}}, [](const std::vector<Tensor>& x) { return einsum("bh,h->bh", x); });
  EXPECT_THAT(text, Not(HasSubstr("dot_general")));
}

TEST(IdentityForms, AreNotWritten) {
  const std::string text =
      text_of({{2}}, [](const std::vector<Tensor>& x) { return checkpoint_name(stop_gradient(x[0] + 1.0), "ffn1"); });
  EXPECT_THAT(text, Not(HasSubstr("checkpoint_name")));
  EXPECT_THAT(text, Not(HasSubstr("stop_gradient")));
}

Tensor constrain(const std::vector<Tensor>& x) {
  return sharding_constraint(x[0] + 1.0, {{{"data"}, {std::string(kOpenAxis)}}});
}

TEST(ShardingForms, AreWrittenWithAMesh) {
  const std::string text = text_of({{2, 3}}, constrain, {}, {.mesh = {{"data"}, {2}}});
  EXPECT_THAT(text, HasSubstr("\"sdy.sharding_constraint\""));
  EXPECT_THAT(text, HasSubstr("sharding = #sdy.sharding<@mesh, [{\"data\"}, {?}]>"));
}

TEST(ShardingForms, AreLeftOutWithoutAMesh) { EXPECT_THAT(text_of({{2, 3}}, constrain), Not(HasSubstr("sdy"))); }

TEST(Attributes, ForRulesOnlyAreNotWritten) {
  EXPECT_THAT(text_of({{2}}, [](const std::vector<Tensor>& x) { return x[0] + 1.0; }), Not(HasSubstr("_shape")));
}

}  // namespace
}  // namespace pax
