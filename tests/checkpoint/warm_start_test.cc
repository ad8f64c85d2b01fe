#include "pax/checkpoint/warm_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/checkpoint/layout.h"
#include "pax/checkpoint/load_rule.h"
#include "pax/checkpoint/write.h"
#include "tests/checkpoint/testing.h"

namespace pax {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(LoadRule, MatchesTheBeginningOfTheNameAndFillsInTheGroups) {
  EXPECT_EQ(LoadRule("params/decoder/lm/(.*)$", "params/lm/{}").apply("params/decoder/lm/ff/w"), "params/lm/ff/w");
  EXPECT_EQ(LoadRule("(.*)", "{}").apply("a/b"), "a/b");
  EXPECT_EQ(LoadRule("(.)/(.)", "{1}-{0}").apply("a/b/c"), "b-a");
  EXPECT_EQ(LoadRule("a", "{{x}}").apply("ab"), "{x}");
  EXPECT_FALSE(LoadRule("b", "{{x}}").apply("ab"));
  EXPECT_FALSE(LoadRule("a|b").matches("cb"));
}

TEST(LoadRule, RefusesPatternsAndSourcesThatCannotWork) {
  EXPECT_THROW(LoadRule("(", ""), ConfigError);
  EXPECT_THROW(LoadRule("a", "{}"), ConfigError);
  EXPECT_THROW(LoadRule("(a)", "{x}"), ConfigError);
  EXPECT_THROW(LoadRule("(a)", "{"), ConfigError);
}

class WarmStarting : public ::testing::Test {
 protected:
  WarmStarting() {
    Checkpoint checkpoint{.step = 5};
    checkpoint.state["step"] = HostArray::scalar(int32_t{5});
    checkpoint.state["mdl_vars/params/lm/w"] = HostArray::of<float>({1, 2}, {2});
    checkpoint.state["mdl_vars/params/lm/b"] = HostArray::of<float>({3}, {1});
    checkpoint.state["opt_states_0/0/m/params/lm/w"] = HostArray::of<float>({4, 5}, {2});
    checkpoint.state["opt_states_0/1/ema/params/lm/w"] = HostArray::of<float>({6, 7}, {2});
    testing::QuickDisk disk;
    write_checkpoint(disk, folder_.path() / "checkpoints", checkpoint);
  }
  CheckpointLoadingRules rules(std::vector<std::array<std::string, 2>> load) {
    return {.checkpoint_path = folder_.path().string(), .load_rules = std::move(load)};
  }
  WarmStart apply(const CheckpointLoadingRules& config) { return warm_start(model_, std::span(&config, 1)); }

  TempDirectory folder_;
  Tree<TensorType> model_ = {{"step", {DType::kS32, {}}},
                             {"mdl_vars/params/enc/w", {DType::kF32, {2}}},
                             {"mdl_vars/params/lm/b", {DType::kF32, {1}}},
                             {"mdl_vars/params/lm/w", {DType::kBF16, {2}}},
                             {"opt_states_0/0/m/params/lm/w", {DType::kF32, {2}}}};
};

TEST_F(WarmStarting, TakesWhatTheRulesNameInTheModelsElementType) {
  const WarmStart start = apply(rules({{"params/lm/(.*)", "params/lm/{}"}}));
  EXPECT_EQ(start.state.size(), 2u);
  EXPECT_EQ(start.state.at("mdl_vars/params/lm/w").dtype(), DType::kBF16);
  EXPECT_THAT(start.state.at("mdl_vars/params/lm/w").to_doubles(), ElementsAre(1, 2));
  EXPECT_THAT(start.from.at("mdl_vars/params/lm/b"), HasSubstr("checkpoint_00000005: mdl_vars/params/lm/b"));
  EXPECT_FALSE(start.step);
  EXPECT_FALSE(start.has_opt_states);
}

TEST_F(WarmStarting, RenamesAndIgnores) {
  CheckpointLoadingRules config = rules({{"params/enc/(.*)", "params.lm.{}"}, {"params/lm/(.*)", "params/lm/{}"}});
  config.ignore_rules = {".*/b$"};
  const WarmStart start = apply(config);
  EXPECT_THAT(start.state.at("mdl_vars/params/enc/w").to_doubles(), ElementsAre(1, 2));
  EXPECT_FALSE(start.state.contains("mdl_vars/params/lm/b"));
}

TEST_F(WarmStarting, TakesStepOptimizerAndMovingAverageWhenAsked) {
  CheckpointLoadingRules config = rules({{"params/lm/w", "ema/params/lm/w"}});
  config.load_step = true;
  config.load_opt_states = true;
  const WarmStart start = apply(config);
  EXPECT_EQ(start.step, 5);
  EXPECT_TRUE(start.has_opt_states);
  EXPECT_THAT(start.state.at("mdl_vars/params/lm/w").to_doubles(), ElementsAre(6, 7));
  EXPECT_THAT(start.state.at("opt_states_0/0/m/params/lm/w").to_doubles(), ElementsAre(4, 5));
  config.load_ema_states = false;
  EXPECT_THROW(apply(config), ConfigError);
}

TEST_F(WarmStarting, TheFirstSourceThatMatchesWins) {
  const CheckpointLoadingRules both[] = {rules({{"params/lm/w", "ema/params/lm/w"}}),
                                         rules({{"params/lm/(.*)", "params/lm/{}"}})};
  const WarmStart start = warm_start(model_, both);
  EXPECT_THAT(start.state.at("mdl_vars/params/lm/w").to_doubles(), ElementsAre(6, 7));
  EXPECT_THAT(start.state.at("mdl_vars/params/lm/b").to_doubles(), ElementsAre(3));
}

TEST_F(WarmStarting, TakesPartOfTheOptimizerByRules) {
  CheckpointLoadingRules config = rules({{"0/0/m/(.*)", "0/0/m/{}"}});
  config.partial_load_opt_states = true;
  EXPECT_THAT(apply(config).state.at("opt_states_0/0/m/params/lm/w").to_doubles(), ElementsAre(4, 5));
}

TEST_F(WarmStarting, SafeLoadRefusesRulesThatMatchNothing) {
  CheckpointLoadingRules config = rules({{"params/ln/(.*)", "params/lm/{}"}});
  EXPECT_TRUE(apply(config).state.empty());
  config.safe_load = true;
  EXPECT_THROW(apply(config), ConfigError);
}

TEST_F(WarmStarting, NamesAllThatIsMissingOrOfAnotherShape) {
  model_["mdl_vars/params/lm/b"].shape = {2};
  const std::string error = error_of([&] { apply(rules({{"(.*)", "{}"}})); });
  EXPECT_THAT(error, HasSubstr("mdl_vars/params/lm/b (f32[1] there, f32[2] here)"));
  EXPECT_THAT(error, HasSubstr("1 missing there: mdl_vars/params/enc/w"));
}

TEST(CheckpointLoadingRulesConfig, ReportsEveryBadPattern) {
  CheckpointLoadingRules config{.checkpoint_path = "x", .load_rules = {{"(", ""}, {"a", "{}"}}, .ignore_rules = {"["}};
  config::Errors errors;
  config.validate(errors);
  EXPECT_THAT(errors.messages(), UnorderedElementsAre(HasSubstr("load_rules[0]"), HasSubstr("load_rules[1]"),
                                                      HasSubstr("ignore_rules[0]")));
}

}  // namespace
}  // namespace pax
