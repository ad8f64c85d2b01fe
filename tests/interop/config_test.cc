#include <gmock/gmock.h>

#include "pax/base/error.h"
#include "pax/config/yaml.h"
#include "pax/interop/huggingface/model.h"
#include "pax/interop/huggingface/rope.h"

namespace pax::hf {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class F>
std::string config_error(F call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string error_of_plan(const std::string& json) {
  return config_error([&] { plan_of(HfConfig(json, "config.json")); });
}

std::string printed(const std::string& json) {
  return config::print(config::Ref(plan_of(HfConfig(json, "config.json")).model));
}

TEST(HfConfig, OldAndNewSpellingsOfRotaryPositionsAreOneModel) {
  const std::string common = R"("model_type": "llama", "hidden_size": 32, "num_attention_heads": 4, )";
  EXPECT_EQ(
      printed("{" + common + R"("rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 2.0}})"),
      printed("{" + common + R"("rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 500.0}})"));
}

TEST(HfConfig, SilenceMeansTheFamilysDefault) {
  const HfConfig mixtral(R"({"model_type": "mixtral"})", "config.json");
  const ModelPlan plan = plan_of(mixtral);
  EXPECT_EQ(plan.experts, 8);
  EXPECT_EQ(plan.model.get<int64_t>("lm_tpl.model_dims"), 4096);
}

TEST(HfConfig, NamesTheFamiliesWhenThereIsNone) {
  EXPECT_THAT(error_of_plan(R"({"model_type": "mamba"})"),
              AllOf(HasSubstr("config.json"), HasSubstr("model_type"), HasSubstr("\"mamba\""), HasSubstr("llama")));
}

TEST(HfConfig, NamesTheKeyOfAWrongValue) {
  EXPECT_THAT(error_of_plan(R"({"model_type": "llama", "hidden_size": "wide"})"),
              AllOf(HasSubstr("hidden_size"), HasSubstr("\"wide\"")));
  EXPECT_THAT(error_of_plan(R"({"model_type": "llama", "hidden_size": -4})"), HasSubstr("hidden_size"));
  EXPECT_THAT(error_of_plan(R"({"model_type": "llama", "num_attention_heads": 4, "num_key_value_heads": 3})"),
              HasSubstr("num_key_value_heads"));
  EXPECT_THAT(error_of_plan(R"({"model_type": "llama", "hidden_act": "snake"})"),
              AllOf(HasSubstr("hidden_act"), HasSubstr("\"snake\""), HasSubstr("silu")));
  EXPECT_THAT(error_of_plan(R"({"model_type": "llama", "rope_scaling": {"rope_type": "spiral", "factor": 2}})"),
              AllOf(HasSubstr("rope_type"), HasSubstr("\"spiral\"")));
}

TEST(HfConfig, RefusesWhatIsNoJsonObject) {
  EXPECT_THAT(config_error([] { HfConfig("[1]", "a/config.json"); }), HasSubstr("a/config.json"));
  EXPECT_THAT(config_error([] { HfConfig("{", "a/config.json"); }), HasSubstr("a/config.json"));
  EXPECT_NE(config_error([] { HfConfig(std::string(100'000, '['), "a/config.json"); }), "");
}

TEST(HfConfig, EqualLayersAreRepeatedAndAPatternOfWindowsIsTheRepeatedBlock) {
  const HfConfig gemma2(R"({"model_type": "gemma2", "num_hidden_layers": 6, "sliding_window": 5})", "config.json");
  EXPECT_EQ(plan_of(gemma2).places.at("{layer}").period, 2);
  EXPECT_EQ(plan_of(gemma2, {.repeat_layers = false}).places.at("{layer}").period, 0);
}

// Expected values: frequency i of theta 10000 over 4 dimensions is 1 and 0.01.
TEST(RotaryFrequencies, LinearDividesAll) {
  ScaledRotaryPositionalEmbedding::Config config;
  config.scaling = RopeScaling::kLinear;
  config.factor = 4;
  const std::vector<double> got = rotary_frequencies(config, 4);
  EXPECT_NEAR(got[0], 0.25, 1e-12);
  EXPECT_NEAR(got[1], 0.0025, 1e-12);
}

TEST(RotaryFrequencies, Llama3StretchesLongWavesOnly) {
  ScaledRotaryPositionalEmbedding::Config config;
  config.scaling = RopeScaling::kLlama3;
  config.factor = 8;
  config.original_max_positions = 100;  // waves of 6.28 and 628 positions
  const std::vector<double> got = rotary_frequencies(config, 4);
  EXPECT_NEAR(got[0], 1.0, 1e-12);
  EXPECT_NEAR(got[1], 0.01 / 8, 1e-12);
}

}  // namespace
}  // namespace pax::hf
