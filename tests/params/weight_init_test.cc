#include "pax/params/weight_init.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pax/ops/random.h"
#include "pax/params/initial_state.h"
#include "pax/params/orthogonal.h"
#include "pax/runtime/program.h"
#include "tests/ops/testing.h"
#include "tests/runtime/testing.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kSeed = 42;

/// Mean, standard deviation and largest absolute value.
struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};

Moments moments_of(const std::vector<double>& values) {
  Moments out;
  const auto count = static_cast<double>(values.size());
  for (const double v : values) out.mean += v / count;
  for (const double v : values) {
    out.deviation += (v - out.mean) * (v - out.mean) / count;
    out.largest = std::max(out.largest, std::abs(v));
  }
  out.deviation = std::sqrt(out.deviation);
  return out;
}

Param variable(std::string path, Shape shape, WeightInit init, std::vector<int64_t> prefix = {}) {
  Param param{.path = std::move(path)};
  param.spec.shape = std::move(shape);
  param.spec.init = init;
  param.spec.dtype = DType::kF32;
  param.spec.repeat_prefix = std::move(prefix);
  return param;
}

TEST(Fans, TakeLeadingDimensionsAsReceptiveField) {
  EXPECT_EQ(fans({3, 3, 8, 16}).in, 72);
  EXPECT_EQ(fans({3, 3, 8, 16}).out, 144);
  EXPECT_EQ(fans({7}).in, 7);
  EXPECT_EQ(fans({7}).out, 7);
}

TEST(Fans, AreThoseOfTheAxesGiven) {
  const std::vector<int64_t> in{0}, out{1, 2};
  EXPECT_EQ(fans({64, 8, 12}, in, out).in, 64);
  EXPECT_EQ(fans({64, 8, 12}, in, out).out, 96);
}

struct Law {
  InitMethod method;
  double scale;
  double deviation;  ///< of a [60, 100] weight
  double largest;    ///< 0: unbounded
};

TEST(InitialValues, HaveTheMomentsOfTheirLaw) {
  const double cut = 0.8796256610342398;  // of a normal variable cut at two deviations
  const double root3 = std::sqrt(3.0);
  const Law laws[] = {
      {InitMethod::kGaussian, 0.3, 0.3, 0},
      {InitMethod::kUniform, 0.3, 0.3 / root3, 0.3},
      {InitMethod::kXavier, 2, 2 * std::sqrt(6 / 160.0) / root3, 2 * std::sqrt(6 / 160.0)},
      {InitMethod::kTruncatedGaussian, 0.5, 0.5 * cut, 1},
      {InitMethod::kGaussianSqrtDim, 1, 1 / std::sqrt(60.0), 0},
      {InitMethod::kGaussianSqrtFanIn, 1, 1 / std::sqrt(60.0), 0},
      {InitMethod::kGaussianSqrtFanOut, 1, 0.1, 0},
      {InitMethod::kGaussianSqrtFanAvg, 1, std::sqrt(2 / 160.0), 0},
      {InitMethod::kUniformSqrtDim, 1, 1 / std::sqrt(60.0) / root3, 1 / std::sqrt(60.0)},
      {InitMethod::kUniformSqrtFanAvg, 1, std::sqrt(6 / 160.0) / root3, std::sqrt(6 / 160.0)},
      {InitMethod::kUniformUnitScaling, 1, std::sqrt(3 / 60.0) / root3, std::sqrt(3 / 60.0)},
      {InitMethod::kTruncatedGaussianSqrtFanIn, 1, cut / std::sqrt(60.0), 2 / std::sqrt(60.0)},
      {InitMethod::kTruncatedGaussianSqrtFanOut, 1, cut / 10, 0.2},
  };
  Graph graph;
  const Tensor key = random_key(graph, kSeed);
  uint32_t index = 0;
  for (const Law& law : laws) {
    const Tensor own_key = fold_in(key, index);
    graph.output(std::to_string(index++), initial_values({law.method, law.scale}, own_key, {DType::kF32, {60, 100}}));
  }
  const std::vector<HostArray> draws = run(graph, {});
  for (size_t i = 0; i < std::size(laws); ++i) {
    const Moments got = moments_of(draws[i].to_doubles());
    EXPECT_NEAR(got.mean, 0, 5 * laws[i].deviation / std::sqrt(6000.0)) << i;
    EXPECT_NEAR(got.deviation, laws[i].deviation, 0.04 * laws[i].deviation) << i;
    if (laws[i].largest > 0) {
      EXPECT_LE(got.largest, laws[i].largest * 1.000001) << i;
      EXPECT_GE(got.largest, laws[i].largest * 0.98) << i;
    }
  }
}

TEST(InitialValues, OfAConstantAreThatConstant) {
  Graph graph;
  graph.output("f", initial_values(WeightInit::constant(0.5), random_key(graph, 1), {DType::kF32, {2}}));
  graph.output("i", initial_values(WeightInit::constant(3), random_key(graph, 1), {DType::kS32, {2}}));
  const std::vector<HostArray> values = run(graph, {});
  EXPECT_THAT(values[0].to_doubles(), ::testing::ElementsAre(0.5, 0.5));
  EXPECT_THAT(values[1].to_doubles(), ::testing::ElementsAre(3, 3));
}

TEST(InitialValues, OfIntegersMustBeConstant) {
  Graph graph;
  EXPECT_THAT(error_of([&] {
                initial_values(WeightInit::gaussian(), random_key(graph, 1), {DType::kS32, {2}});
              }),
              AllOf(HasSubstr("i32[2]"), HasSubstr("constant")));
}

TEST(InitialValue, OfEachRepetitionIsThatOfItsOwnKey) {
  const Param stacked = variable("w", {4, 5}, WeightInit::gaussian(), {3});
  Graph graph;
  graph.output("stacked", initial_value(stacked, random_key(graph, kSeed)));
  graph.output("others", initial_value(variable("w", {4, 5}, WeightInit::gaussian(), {2}), random_key(graph, kSeed)));
  const std::vector<HostArray> values = run(graph, {});
  const std::vector<double> three = values[0].to_doubles(), two = values[1].to_doubles();
  // However many repetitions there are, each has the values it would have among others, and no two are alike.
  EXPECT_TRUE(std::equal(two.begin(), two.end(), three.begin()));
  EXPECT_NE(std::vector<double>(three.begin(), three.begin() + 20),
            std::vector<double>(three.begin() + 20, three.begin() + 40));
}

TEST(InitialValue, DependsOnTheNameAlone) {
  std::deque<Param> alone{variable("b", {4}, WeightInit::gaussian())};
  std::deque<Param> among{variable("a", {4}, WeightInit::gaussian()), alone.front()};
  Graph graph;
  graph.output("alone", initial_values(alone, random_key(graph, kSeed)).at("params/b"));
  const Tree<Tensor> both = initial_values(among, random_key(graph, kSeed));
  graph.output("among", both.at("params/b"));
  graph.output("other", both.at("params/a"));
  const std::vector<HostArray> values = run(graph, {});
  EXPECT_EQ(values[0].to_doubles(), values[1].to_doubles());
  EXPECT_NE(values[0].to_doubles(), values[2].to_doubles());
}

TEST(InitialValue, IsTheSameOnAnyMesh) {
  const auto draw = [](const Mesh& mesh, const Sharding& sharding) {
    Graph graph;
    const Param param = variable("w", {8, 12}, WeightInit::xavier(), {4});
    graph.output("w", initial_value(param, random_key(graph, kSeed)), sharding);
    CompileCache cache{std::filesystem::path()};
    const auto devices = std::make_shared<const DeviceMesh>(default_client(mesh.num_devices()), mesh);
    const Program program(devices, program_text(*lower(graph, {}), mesh), cache);
    return to_host(program.run({})).at("w").to_doubles();
  };
  EXPECT_EQ(draw({{"data", "mdl"}, {2, 2}}, {{{}, {"data"}, {"mdl"}}}), draw({}, {}));
}

TEST(DeltaOrthogonal, PutsAnOrthogonalMatrixInTheMiddle) {
  Graph graph;
  graph.output("w", initial_values({InitMethod::kDeltaOrthogonal}, random_key(graph, kSeed), {DType::kF32, {3, 4, 4}}));
  const std::vector<double> w = run(graph, {})[0].to_doubles();
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(w[4 * i + j], 0);
      double dot = 0;
      for (size_t k = 0; k < 4; ++k) dot += w[16 + 4 * i + k] * w[16 + 4 * j + k];
      EXPECT_NEAR(dot, i == j ? 1 : 0, 1e-4);
    }
  }
}

TEST(DeltaOrthogonal, RefusesSixDimensions) {
  Graph graph;
  EXPECT_THAT(error_of([&] {
                initial_values({InitMethod::kDeltaOrthogonal}, random_key(graph, 1), {DType::kF32, {1, 1, 1, 1, 2, 2}});
              }),
              HasSubstr("f32[1,1,1,1,2,2]"));
}

TEST(InitialScale, KnowsTheMethodsThatPraxisKnows) {
  EXPECT_DOUBLE_EQ(initial_scale(WeightInit::gaussian(0.3), {4, 8}), 0.3);
  EXPECT_DOUBLE_EQ(initial_scale(WeightInit::xavier(), {4, 8}), std::sqrt(0.5));
  EXPECT_THAT(error_of([] { initial_scale(WeightInit::constant(), {4, 8}); }), HasSubstr("scale_update_by_var_norm"));
}

}  // namespace
}  // namespace pax
