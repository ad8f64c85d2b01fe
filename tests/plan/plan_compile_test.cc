// Plans of whole experiments. Those for TPU and GPU only where scripts/setup --platform tpu|cuda has been run.

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "pax/base/error.h"
#include "pax/experiments/load.h"
#include "pax/experiments/registry.h"
#include "pax/plan/report.h"
#include "pax/trainer/session.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ExperimentConfig experiment(const std::string& name, std::vector<std::string> constants = {}) {
  return load_experiment({.name = name, .constants = std::move(constants)}, make_registry()).config;
}

bool installed(const std::string& platform) {
  return std::filesystem::exists(std::filesystem::path(PAX_DEPS_DIR) / "plugins" / platform);
}

TEST(Plan, ForCpuNeedsWhatTheCompiledStepOfARunNeeds) {
  const ExperimentConfig config = experiment("LmCloudSpmdTest", {"ICI_MESH_SHAPE=[1,2,2]"});
  const Plan plan = make_plan(config, find_machine("cpux4"), {.experiment = "LmCloudSpmdTest"});
  Session session(config);
  const auto program = session.compile(trace_train_step(config.task, training_batch_spec(config)), "train_step");
  const MemoryStats run = program->executable().executable().memory_stats();
  EXPECT_EQ(plan.memory.activations, run.temporaries);
  EXPECT_EQ(plan.memory.weights + plan.memory.optimizer_state + plan.memory.batch, run.arguments);
}

TEST(Plan, CountsTheFlopsOfTheFormula) {
  const Plan plan = make_plan(experiment("LmCloudSpmdTest"), find_machine("cpu"), {});
  // 6 for each weight of a product and token, 12 for each layer, width, position and token.
  const double layers = 2, width = 64, hidden = 256, vocabulary = 32000, positions = 1024;
  const double weights = layers * (4 * width * width + 2 * width * hidden) + vocabulary * width;
  const double expected = static_cast<double>(plan.tokens) * (6 * weights + 12 * layers * width * positions);
  EXPECT_NEAR(plan.flops, expected, 1e-3 * expected);
  EXPECT_NEAR(plan.causal_flops, expected - static_cast<double>(plan.tokens) * 6 * layers * width * positions,
              1e-3 * expected);
}

TEST(Plan, NamesBothNumbersWhenTheMeshDoesNotMatch) {
  try {
    make_plan(experiment("C4Spmd16BAdam32Replicas"), find_machine("v4-8"), {});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("32 devices"), HasSubstr("v4-8 has 4")));
  }
}

TEST(Plan, NamesTheCommandThatGetsAPlugin) {
  ExperimentConfig config = experiment("LmCloudSpmdTest");
  config.platform.deps_dir = "/nonexistent";
  try {
    make_plan(config, find_machine("v5e-1"), {});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("scripts/setup --platform tpu"));
  }
}

TEST(Plan, ForTpuPredictsTimeAndListsCollectives) {
  if (!installed("tpu")) GTEST_SKIP() << "run scripts/setup --platform tpu";
  const ExperimentConfig config = experiment("LmCloudSpmdTest", {"ICI_MESH_SHAPE=[1,2,2]"});
  const Plan plan = make_plan(config, find_machine("v4-8"), {.experiment = "LmCloudSpmdTest"});
  EXPECT_TRUE(plan.fits());
  EXPECT_GT(plan.memory.peak, plan.memory.weights + plan.memory.optimizer_state);
  EXPECT_GT(plan.mfu(), 0);
  EXPECT_LT(plan.mfu(), 1);
  EXPECT_THAT(plan_text(plan), AllOf(HasSubstr("fits: "), HasSubstr("lm/transformer"), HasSubstr("data")));
  const auto json = nlohmann::json::parse(plan_json(plan));
  EXPECT_EQ(json.at("devices"), 4);
  EXPECT_EQ(json.at("topology"), "v4-8");
  EXPECT_GT(json.at("predicted_step_s").get<double>(), 0);
  EXPECT_FALSE(json.at("collectives").empty());
  EXPECT_THAT(plan_html(plan), AllOf(HasSubstr("<title>LmCloudSpmdTest on v4-8"), Not(HasSubstr("http"))));
}

TEST(Plan, ThatDoesNotFitSaysByHowMuchAndWhatToTry) {
  if (!installed("tpu")) GTEST_SKIP() << "run scripts/setup --platform tpu";
  const ExperimentConfig config = experiment("LmCloudSpmdTest", {"ICI_MESH_SHAPE=[1,2,2]", "PERCORE_BATCH_SIZE=8192"});
  const Plan plan = make_plan(config, find_machine("v4-8"), {.experiment = "LmCloudSpmdTest"});
  EXPECT_FALSE(plan.fits());
  EXPECT_FALSE(plan.advice.empty());
  EXPECT_THAT(plan_text(plan), AllOf(HasSubstr("does not fit: "), HasSubstr("too much"),
                                     HasSubstr("the compiler says: "), HasSubstr("to try:")));
}

TEST(Plan, ForGpuPredictsByRoofline) {
  if (!installed("cuda")) GTEST_SKIP() << "run scripts/setup --platform cuda";
  const ExperimentConfig config = experiment("LmCloudSpmdTest", {"ICI_MESH_SHAPE=[1,4,2]"});
  const Plan plan = make_plan(config, find_machine("h100x8"), {.experiment = "LmCloudSpmdTest"});
  EXPECT_TRUE(plan.fits());
  EXPECT_GT(plan.mfu(), 0);
  EXPECT_LT(plan.mfu(), 1);
  EXPECT_FALSE(plan.cost.collectives.empty());
}

}  // namespace
}  // namespace pax
