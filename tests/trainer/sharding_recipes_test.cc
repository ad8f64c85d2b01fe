// A model trains on every mesh and under every recipe as it does on one device: first weights equal to the bit, the
// loss of 20 steps to 1e-5. Virtual CPU devices.

#include <gmock/gmock.h>

#include <map>

#include "pax/data/batch.h"
#include "pax/trainer/session.h"
#include "tests/trainer/small_model.h"

namespace pax {
namespace {

constexpr int kSteps = 20;

const Layout kOneDevice{"one device", {"replica", "data", "mdl"}, {1, 1, 1}, {1, 1, 1}, {}};

struct Run {
  HostTree first;
  std::vector<float> losses;
};

Run train(const Layout& layout, Model model, const Sizes& sizes) {
  Session session(small_model(layout, model, sizes));
  const SingleTask& task = session.config().task;
  DeviceTree state = session.compile(trace_init(task), "init")->run({});
  Run run{.first = to_host(state)};
  const auto step = session.compile(trace_train_step(task, data::lm_batch_spec(sizes.rows, kPositions)), "train_step");
  for (uint32_t i = 0; i < kSteps; ++i) {
    const HostTree batch = batch_of(sizes.rows, sizes.vocabulary, 7 + i % 4);
    const DeviceTree results = step->step(state, session.batch_to_device(batch));
    run.losses.push_back(results.at("metrics/total_loss/value").to_host().values<float>()[0]);
  }
  return run;
}

/// The run on one device; made once.
const Run& on_one_device(Model model, const Sizes& sizes) {
  static std::map<std::tuple<Model, int64_t, int64_t, int64_t>, Run> known;
  const std::tuple key(model, sizes.rows, sizes.vocabulary, sizes.hidden);
  if (!known.contains(key)) known.emplace(key, train(kOneDevice, model, sizes));
  return known.at(key);
}

void expect_same(const Layout& layout, Model model, const Sizes& sizes = {}) {
  SCOPED_TRACE(layout.name);
  const Run& one = on_one_device(model, sizes);
  const Run split = train(layout, model, sizes);
  ASSERT_EQ(one.first.size(), split.first.size());
  for (const auto& [name, array] : one.first) {
    const auto expected = array.bytes(), actual = split.first.at(name).bytes();
    EXPECT_TRUE(std::ranges::equal(expected, actual)) << name;
  }
  EXPECT_LT(one.losses.back(), one.losses.front());
  for (size_t i = 0; i < one.losses.size(); ++i) {
    EXPECT_NEAR(split.losses[i], one.losses[i], 1e-5 * one.losses[i]) << "step " << i + 1;
  }
}

const std::vector<std::string> kAxes = {"replica", "data", "mdl"};

class EveryRecipe : public ::testing::TestWithParam<Layout> {};

TEST_P(EveryRecipe, TrainsAsOneDeviceDoes) { expect_same(GetParam(), Model::kDense); }

INSTANTIATE_TEST_SUITE_P(
    Dense, EveryRecipe,
    ::testing::Values(
        Layout{"data parallel", kAxes, {8, 1, 1}, {1, 1, 1}, {}}, Layout{"FSDP", kAxes, {1, 8, 1}, {1, 1, 1}, {}},
        Layout{"tensor parallel", kAxes, {1, 1, 4}, {1, 1, 1}, {}},
        Layout{"FSDP and tensor parallel", kAxes, {1, 2, 4}, {1, 1, 1}, {}},
        Layout{"all three", kAxes, {2, 2, 2}, {1, 1, 1}, {}},
        Layout{"sharded for inference", kAxes, {1, 4, 2}, {1, 1, 1}, {}, OptimizedFor::kInference},
        Layout{"slices along replica", kAxes, {1, 2, 2}, {2, 1, 1}, {}},
        Layout{"slices along data", kAxes, {1, 2, 2}, {1, 2, 1}, {}},
        Layout{"sequence parallel", {"replica", "data", "seq", "mdl"}, {1, 2, 2, 2}, {1, 1, 1, 1}, {.seq = "seq"}}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

TEST(Experts, OverTheDataAxisTrainAsOnOneDevice) {
  expect_same({"experts over data", kAxes, {1, 4, 2}, {1, 1, 1}, {}}, Model::kExperts);
}

TEST(Experts, OnAnAxisOfTheirOwnTrainAsOnOneDevice) {
  expect_same({"expert parallel",
               {"replica", "data", "data_expert", "mdl"},
               {1, 2, 2, 2},
               {1, 1, 1, 1},
               {.data_expert = "data_expert"}},
              Model::kExperts);
}

TEST(UnevenSizes, TrainAsOnOneDevice) {
  // 327 ids over 4, 70 hidden over 4: neither divides.
  expect_same({"uneven", kAxes, {1, 2, 4}, {1, 1, 1}, {}}, Model::kDense, {.vocabulary = 327, .hidden = 70});
}

TEST(FractionalBatches, TrainAsOnOneDevice) {
  expect_same({"2 rows on 8 devices", kAxes, {1, 8, 1}, {1, 1, 1}, {}}, Model::kDense, {.rows = 2});
}

}  // namespace
}  // namespace pax
