#include "pax/runtime/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const TensorType kVector{DType::kF32, {4}};

/// w ← w − x ⊙ rate; loss = Σ x, over two devices when `sharded`.
ProgramText update_text(bool sharded) {
  const std::string mesh = sharded ? "sdy.mesh @mesh = <[\"data\"=2]>\n" : "";
  const std::string split = sharded ? "sdy.sharding = #sdy.sharding<@mesh, [{\"data\"}]>" : "";
  const std::string attr = sharded ? " {" + split + "}" : "";
  const std::string whole = sharded ? " {sdy.sharding = #sdy.sharding<@mesh, []>}" : "";
  ProgramText text;
  text.stablehlo = "module @update {\n" + mesh + R"(func.func public @main(
  %w: tensor<4xf32> {)" +
                   split + (sharded ? ", " : "") + R"(tf.aliasing_output = 0 : i32},
  %x: tensor<4xf32>)" +
                   attr + ") -> (tensor<4xf32>" + attr + ", tensor<f32>" + whole + R"() {
  %rate = "stablehlo.constant"() {value = dense<0.5> : tensor<4xf32>} : () -> tensor<4xf32>
  %step = "stablehlo.multiply"(%x, %rate) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %next = "stablehlo.subtract"(%w, %step) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %loss = "stablehlo.reduce"(%x, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%sum) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  "func.return"(%next, %loss) : (tensor<4xf32>, tensor<f32>) -> ()
}
})";
  const Sharding sharding = sharded ? Sharding{{{"data"}}} : Sharding{};
  text.arguments = {{"params/w", kVector, sharding}, {"x", kVector, sharding}};
  text.results = {{"params/w", kVector, sharding}, {"loss", {DType::kF32, {}}, {}}};
  return text;
}

class ProgramTest : public ::testing::TestWithParam<bool> {
 protected:
  ProgramTest()
      : mesh_(GetParam() ? std::make_shared<const DeviceMesh>(default_client(2), Mesh{{"data"}, {2}})
                         : std::make_shared<const DeviceMesh>(default_client(), Mesh{})),
        program_(mesh_, update_text(GetParam()), cache_) {}

  DeviceArray put(std::initializer_list<float> values) const {
    return DeviceArray::put(mesh_, HostArray::of(values, {4}), GetParam() ? Sharding{{{"data"}}} : Sharding{});
  }

  CompileCache cache_{std::filesystem::path()};
  std::shared_ptr<const DeviceMesh> mesh_;
  Program program_;
};

TEST_P(ProgramTest, AStepReplacesTheStateAndReturnsTheRest) {
  DeviceTree state{{"params/w", put({1, 1, 1, 1})}};
  const DeviceTree results = program_.step(state, {{"x", put({2, 4, 6, 8})}});
  EXPECT_THAT(to_host(results).at("loss").to_doubles(), ElementsAre(20));
  EXPECT_EQ(results.size(), 1u);
  EXPECT_THAT(state.at("params/w").to_host().values<float>(), ElementsAre(0, -1, -2, -3));
}

TEST_P(ProgramTest, AStepGivesUpTheOldState) {
  DeviceTree state{{"params/w", put({1, 1, 1, 1})}};
  const DeviceArray old = state.at("params/w");
  program_.step(state, {{"x", put({2, 4, 6, 8})}});
  EXPECT_TRUE(old.shards()[0].deleted());
}

TEST_P(ProgramTest, ASnapshotBegunBeforeAStepHasTheOldState) {
  DeviceTree state{{"params/w", put({1, 1, 1, 1})}};
  const auto snapshot = copy_to_host(state);
  for (int i = 0; i < 5; ++i) program_.step(state, {{"x", put({2, 4, 6, 8})}});
  EXPECT_THAT(wait(snapshot).at("params/w").values<float>(), ElementsAre(1, 1, 1, 1));
}

TEST_P(ProgramTest, RunLeavesItsInputsAlone) {
  const DeviceTree inputs{{"params/w", put({1, 1, 1, 1})}, {"x", put({2, 4, 6, 8})}};
  const DeviceTree results = program_.run(inputs);
  EXPECT_THAT(results.at("params/w").to_host().values<float>(), ElementsAre(0, -1, -2, -3));
  EXPECT_THAT(inputs.at("params/w").to_host().values<float>(), ElementsAre(1, 1, 1, 1));
}

TEST_P(ProgramTest, NamesAMissingArgument) {
  DeviceTree state{{"params/w", put({1, 1, 1, 1})}};
  EXPECT_THAT(error_of([&] { program_.step(state); }), HasSubstr("program argument x f32[4] was not given"));
}

TEST_P(ProgramTest, NamesBothTypesOfAWrongArgument) {
  DeviceTree state{{"params/w", put({1, 1, 1, 1})}};
  const DeviceArray wrong = DeviceArray::put(mesh_, HostArray::of({1, 2}, {2}));
  EXPECT_THAT(error_of([&] {
                program_.step(state, {{"x", wrong}});
              }),
              AllOf(HasSubstr("x is f32[4]"), HasSubstr("i32[2]")));
}

INSTANTIATE_TEST_SUITE_P(Devices, ProgramTest, ::testing::Bool(), [](const auto& info) {
  return info.param ? std::string("TwoDevices") : std::string("OneDevice");
});

TEST(ProgramText, TakesNamesAndShardingsFromTheGraph) {
  Graph graph;
  const Tensor w = graph.argument("w", kVector, Sharding{{{"data"}}});
  const Tensor x = graph.argument("x", kVector);
  graph.output("w", w);
  graph.output("y", x);
  const ProgramText text = program_text(graph, Mesh{{"data"}, {2}});
  EXPECT_EQ(text.arguments[0].sharding, (Sharding{{{"data"}}}));
  EXPECT_EQ(text.results[0].sharding, (Sharding{{{"data"}}})) << "the next value of a split argument is split alike";
  EXPECT_EQ(text.results[1].sharding, Sharding{});
}

TEST(ProgramText, RunsOnTheMeshItWasWrittenFor) {
  const auto mesh = std::make_shared<const DeviceMesh>(default_client(2), Mesh{{"data"}, {2}});
  Graph graph;
  graph.output("w", graph.argument("w", kVector, Sharding{{{"data"}}}));
  graph.output("y", graph.argument("x", kVector));
  CompileCache cache{std::filesystem::path()};
  const Program program(mesh, program_text(graph, mesh->mesh()), cache);
  DeviceTree state{{"w", DeviceArray::put(mesh, HostArray::of({1.f, 2.f, 3.f, 4.f}, {4}), {{{"data"}}})}};
  const DeviceTree results =
      program.step(state, {{"x", DeviceArray::put(mesh, HostArray::of({5.f, 6.f, 7.f, 8.f}, {4}))}});
  EXPECT_THAT(state.at("w").to_host().values<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(results.at("y").to_host().values<float>(), ElementsAre(5, 6, 7, 8));
}

TEST(ProgramErrors, NameTheLayerOfWhichTheCompilerSpeaks) {
  ProgramText text;
  text.stablehlo = R"(module @broken {
func.func public @main(%0: tensor<2x3xf32>) -> (tensor<5xf32>) {
%1 = "stablehlo.reshape"(%0) : (tensor<2x3xf32>) -> tensor<5xf32> loc(#l1)
"func.return"(%1) : (tensor<5xf32>) -> ()
}
}
#l1 = loc("lm/ffn/up")
)";
  CompileCache nothing_kept{std::filesystem::path()};
  const auto mesh = std::make_shared<const DeviceMesh>(default_client(), Mesh{});
  EXPECT_THAT(error_of([&] { Program(mesh, text, nothing_kept); }), ::testing::StartsWith("lm/ffn/up: "));
}

}  // namespace
}  // namespace pax
