#include "pax/serving/sampling.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <set>

#include "pax/base/error.h"
#include "pax/task/decoding/sample_decoder.h"

namespace pax {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Logits of tokens with probabilities 0.5, 0.25, 0.125, 0.0625, 0.0625, the likeliest in the middle.
std::vector<float> halves() {
  return {std::log(0.125F), std::log(0.25F), std::log(0.5F), std::log(0.0625F), std::log(0.0625F)};
}

std::set<int32_t> drawn(SamplingOptions options, int draws = 400) {
  TokenSampler sampler(options);
  std::set<int32_t> ids;
  for (int i = 0; i < draws; ++i) ids.insert(sampler.draw(halves()).id);
  return ids;
}

std::string error_of(const SamplingOptions& options, const std::vector<float>& logits) {
  try {
    validate(options);
    TokenSampler(options).draw(logits);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TokenSampler, TakesTheLikeliestTokenAtTemperatureZero) {
  EXPECT_EQ(drawn({.temperature = 0}), (std::set<int32_t>{2}));
}

TEST(TokenSampler, TakesTheFirstOfEquallyLikelyTokens) {
  EXPECT_EQ(TokenSampler({}).draw(std::vector<float>{1, 3, 3, 2}).id, 1);
}

TEST(TokenSampler, TopPOfZeroIsTheLikeliestToken) {
  EXPECT_EQ(drawn({.temperature = 1, .p = 0}), (std::set<int32_t>{2}));
}

TEST(TokenSampler, DrawsAmongTheLikeliestK) {
  EXPECT_EQ(drawn({.temperature = 3, .k = 2}), (std::set<int32_t>{1, 2}));
  EXPECT_EQ(drawn({.temperature = 3, .k = 1}), (std::set<int32_t>{2}));
}

TEST(TokenSampler, DrawsAmongTheLikeliestThatReachP) {
  EXPECT_EQ(drawn({.temperature = 3, .p = 0.6}), (std::set<int32_t>{1, 2}));
  EXPECT_EQ(drawn({.temperature = 3, .p = 0.8}), (std::set<int32_t>{0, 1, 2}));
}

TEST(TokenSampler, LeavesOutWhatIsLessLikelyThanMinPTimesTheLikeliest) {
  EXPECT_EQ(drawn({.temperature = 3, .min_p = 0.4}), (std::set<int32_t>{1, 2}));
}

TEST(TokenSampler, LeavesOutWhatIsLessLikelyThanEpsilon) {
  EXPECT_EQ(drawn({.temperature = 3, .epsilon_p = 0.1}), (std::set<int32_t>{0, 1, 2}));
}

TEST(TokenSampler, KeepsTheLikeliestTokenWhenNoneIsAsLikelyAsEpsilon) {
  EXPECT_EQ(drawn({.temperature = 3, .epsilon_p = 0.9}), (std::set<int32_t>{2}));
}

TEST(TokenSampler, DrawsEachTokenAsOftenAsItsProbability) {
  TokenSampler sampler({.temperature = 1, .seed = 3});
  std::vector<double> counts(5);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<size_t>(sampler.draw(halves()).id)];
  // Six standard deviations of a share of one half.
  for (size_t i = 0; i < counts.size(); ++i) EXPECT_NEAR(counts[i] / kDraws, std::exp(halves()[i]), 0.022) << i;
}

TEST(TokenSampler, RepeatsItselfForTheSameSeedOnly) {
  const auto draws = [](uint64_t seed) {
    TokenSampler sampler({.temperature = 1, .seed = seed});
    std::vector<int32_t> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(sampler.draw(halves()).id);
    return ids;
  };
  EXPECT_EQ(draws(5), draws(5));
  EXPECT_NE(draws(5), draws(6));
}

TEST(TokenSampler, HoldsEndTokensBackUntilMinDecodeSteps) {
  TokenSampler sampler({.min_decode_steps = 2, .eos_id = {2, 1}});
  EXPECT_EQ(sampler.draw(halves()).id, 0);
  EXPECT_EQ(sampler.draw(halves()).id, 0);
  EXPECT_EQ(sampler.draw(halves()).id, 2);
}

TEST(TokenSampler, TellsLogProbabilitiesAndEntropy) {
  const DrawnToken token = TokenSampler({.logprobs = 2}).draw(halves());
  EXPECT_NEAR(token.logprob, std::log(0.5), 1e-6);
  EXPECT_NEAR(token.entropy, 1.875 * std::log(2.0), 1e-5);  // 0.5*1 + 0.25*2 + 0.125*3 + 2*0.0625*4 bits
  ASSERT_EQ(token.top.size(), 2u);
  EXPECT_EQ(token.top[0].first, 2);
  EXPECT_EQ(token.top[1].first, 1);
}

TEST(TokenSampler, SaysThatLogitsAreNaN) {
  EXPECT_THAT(error_of({}, {0, kNan, 1}), HasSubstr("NaN"));
  EXPECT_THAT(error_of({}, {-kInfinity, -kInfinity}), HasSubstr("not finite"));
}

TEST(SamplingOptions, EveryMistakeIsNamed) {
  SamplingOptions options;
  options.temperature = -1;
  options.p = 1.5;
  options.max_decode_steps = 0;
  EXPECT_THAT(error_of(options, halves()), ::testing::AllOf(HasSubstr("temperature is -1"), HasSubstr("p is 1.5"),
                                                            HasSubstr("max_decode_steps is 0")));
}

TEST(SamplingOptions, ComeFromADecodersConfig) {
  SampleDecoder::Config config;
  config.temperature = 0.7;
  config.k = 9;
  config.p = 0.9;
  config.eos_id = std::vector<int64_t>{4, 5};
  config.max_decode_steps = OneOrMore{int64_t{33}};
  const SamplingOptions options = sampling_of(config);
  EXPECT_EQ(options.temperature, 0.7);
  EXPECT_EQ(options.k, 9);
  EXPECT_EQ(options.p, 0.9);
  EXPECT_THAT(options.eos_id, ::testing::ElementsAre(4, 5));
  EXPECT_EQ(options.max_decode_steps, 33);
  EXPECT_EQ(sampling_of(GreedyDecoder::Config{}).temperature, 0);
}

}  // namespace
}  // namespace pax
