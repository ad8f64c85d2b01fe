#include "pax/ir/print.h"

#include <gmock/gmock.h>

#include "pax/ops/constant.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/slice.h"

namespace pax {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Readable, HasOneLineAnOpUnderThePathOfItsLayer) {
  Graph graph;
  const Tensor x = graph.argument("x", {DType::kF32, {2, 3}});
  const Tensor w = graph.argument("w", {DType::kF32, {3, 4}});
  {
    const Graph::PathGuard path(graph, "lm/ffn");
    exp(x);
    const Tensor h = einsum("bd,df->bf", x, w);
    graph.output("y", reduce_sum(tanh(h), {1}));
  }
  EXPECT_EQ(to_readable(graph), R"(%0 = argument x : f32[2,3]
%1 = argument w : f32[3,4]
# lm/ffn
%2 = dot_general(%0, %1) [1]x[0] : f32[2,4]
%3 = tanh(%2) : f32[2,4]
%4 = constant() 0 : f32[]
%5 = reduce(%3, %4) add dimensions=[1] : f32[2]
output y = %5
)");
}

TEST(Readable, ShowsAttributesAndLeavesOutWhatNothingUses) {
  Graph graph;
  const Tensor x = graph.argument("x", {DType::kF32, {4}});
  exp(x);
  graph.output("y", lt(slice_dim(x, 0, 1, 3), 0.5));
  const std::string text = to_readable(graph);
  EXPECT_THAT(text, Not(HasSubstr("exponential")));
  EXPECT_THAT(text, HasSubstr("slice(%0) start_indices=[1] limit_indices=[3] strides=[1] : f32[2]"));
  EXPECT_THAT(text, HasSubstr(") LT : i1[2]"));
}

}  // namespace
}  // namespace pax
