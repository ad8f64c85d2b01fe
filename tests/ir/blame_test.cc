#include "pax/ir/blame.h"

#include <gmock/gmock.h>

#include "pax/ir/stablehlo.h"
#include "pax/ops/custom_call.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reduce.h"

namespace pax {
namespace {

/// Line 3 is `exponential` of lm/a, line 4 calls "their_function" in lm/b.
std::string text() {
  Graph graph;
  Tensor x = graph.argument("x", {DType::kF32, {2}});
  {
    const Graph::PathGuard path(graph, "lm/a");
    x = exp(x);
  }
  const Graph::PathGuard path(graph, "lm/b");
  x = custom_call(graph, {x}, {.target = "their_function", .results = {{DType::kF32, {4}}}})[0];
  graph.output("y", reduce_max(x));
  return to_stablehlo(*lower(graph, {}));
}

TEST(BlamedLayer, IsTheLocationThatTheMessageNames) {
  EXPECT_EQ(blamed_layer("<unknown>:0: error: loc(\"lm/ffn/up\"): number of output elements", text()), "lm/ffn/up");
  EXPECT_EQ(blamed_layer("Ran out of memory: Operator: op_name=\"lm/softmax\" Size: 2.0G", text()), "lm/softmax");
}

TEST(BlamedLayer, IsTheOpOfTheLineThatTheParserNames) {
  EXPECT_EQ(blamed_layer("-:3:50: error: unknown StableHLO attribute", text()), "lm/a: stablehlo.exponential");
  EXPECT_EQ(blamed_layer("-:4:9: error: expected attribute", text()), "lm/b: stablehlo.custom_call");
}

TEST(BlamedLayer, IsTheOneThatCallsAFunctionThatIsMissing) {
  EXPECT_EQ(blamed_layer("No FFI handler registered for their_function on a platform Host", text()),
            "lm/b: stablehlo.custom_call");
}

TEST(BlamedLayer, IsEmptyWhereNothingIsSaid) {
  for (const char* message : {"", "-:", "-:99999:1: error", "-:0:0:", "-:3", "loc(\"", "loc(\"\")", "out of luck"}) {
    EXPECT_EQ(blamed_layer(message, text()), "") << message;
    EXPECT_EQ(blamed_layer(message, ""), "") << message;
  }
}

}  // namespace
}  // namespace pax
