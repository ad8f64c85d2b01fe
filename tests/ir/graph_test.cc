#include "pax/ir/graph.h"

#include <gmock/gmock.h>

#include <cmath>

#include "pax/base/error.h"
#include "pax/ir/stablehlo.h"
#include "pax/ops/constant.h"
#include "pax/ops/elementwise.h"

namespace pax {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TensorType f32(Shape shape) { return {DType::kF32, std::move(shape)}; }

std::string text_of(Graph& graph, const StablehloOptions& options = {}) {
  return to_stablehlo(*lower(graph, {}), options);
}

TEST(Graph, GivesAnArgumentOfTheSameNameAndTypeAgain) {
  Graph graph;
  EXPECT_EQ(graph.argument("x", f32({2})).id(), graph.argument("x", f32({2})).id());
  EXPECT_THROW(graph.argument("x", f32({3})), ShapeError);
}

TEST(Graph, ErrorsNameLayerPathOpAndBothTypes) {
  Graph graph;
  const Tensor a = graph.argument("a", f32({2, 3}));
  const Tensor b = graph.argument("b", f32({2, 4}));
  const Graph::PathGuard path(graph, "lm/ffn");
  try {
    add(a, b);
    FAIL() << "no error";
  } catch (const ShapeError& error) {
    EXPECT_THAT(error.what(),
                ::testing::AllOf(HasSubstr("lm/ffn"), HasSubstr("add"), HasSubstr("f32[2,3]"), HasSubstr("f32[2,4]")));
  }
}

TEST(Graph, RefusesTheNullTensorByName) {
  Graph graph;
  EXPECT_THROW(add(graph.argument("a", f32({2})), Tensor()), ShapeError);
  EXPECT_THROW(exp(Tensor()), ShapeError);
}

TEST(Stablehlo, LeavesOutWhatNothingUses) {
  Graph graph;
  const Tensor x = graph.argument("x", f32({2}));
  exp(x);
  graph.output("y", x + x);
  EXPECT_THAT(text_of(graph), ::testing::AllOf(HasSubstr("stablehlo.add"), Not(HasSubstr("exponential"))));
}

TEST(Stablehlo, AliasesAnOutputNamedAsAnArgumentOfTheSameType) {
  Graph graph;
  const Tensor x = graph.argument("state", f32({2}));
  graph.output("state", x + x);
  EXPECT_THAT(text_of(graph), HasSubstr("tf.aliasing_output = 0"));
}

TEST(Stablehlo, WritesLayerPathsAsLocations) {
  Graph graph;
  const Tensor x = graph.argument("x", f32({2}));
  const Graph::PathGuard path(graph, "lm/ffn");
  graph.output("y", exp(x));
  EXPECT_THAT(text_of(graph), HasSubstr("loc(\"lm/ffn\")"));
  EXPECT_THAT(text_of(graph, {.locations = false}), Not(HasSubstr("lm/ffn")));
}

TEST(Stablehlo, WritesShardingsOnlyWhenThereIsAMesh) {
  Graph graph;
  const Tensor x = graph.argument("x", f32({4, 2}), Sharding{{{"data"}, {}}});
  graph.output("y", x + x);
  EXPECT_THAT(text_of(graph), Not(HasSubstr("sdy")));
  const std::string sharded = text_of(graph, {.mesh = {.axes = {"data"}, .sizes = {4}}});
  EXPECT_THAT(sharded, ::testing::AllOf(HasSubstr("sdy.mesh @mesh = <[\"data\"=4]>"), HasSubstr("[{\"data\"}, {}]")));
}

TEST(Stablehlo, WritesInfinityAndNanByTheirBits) {
  Graph graph;
  graph.output("y", constant(graph, HostArray::of({INFINITY, -INFINITY}, {2})));
  EXPECT_THAT(text_of(graph), HasSubstr("[0x7F800000, 0xFF800000]"));
}

TEST(Verify, FindsAValueUsedOutsideOfItsBlock) {
  Graph graph;
  const BlockId block = graph.add_block(0);
  const Tensor inner = graph.add_block_arg(block, f32({2}));
  graph.output("y", inner + inner);
  EXPECT_THROW(verify(graph), ShapeError);
}

}  // namespace
}  // namespace pax
