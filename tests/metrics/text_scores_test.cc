#include "pax/metrics/text_scores.h"

#include <gmock/gmock.h>

#include <cmath>

namespace pax {
namespace {

using ::testing::ElementsAre;

double score(std::string_view text, std::string_view reference, const std::string& name) {
  TextScores scores;
  scores.add(text, reference);
  return scores.result().at(name).value;
}

TEST(TextScores, OfEqualTextsAreAHundred) {
  TextScores scores;
  scores.add("The quick brown fox jumps.", "The quick brown fox jumps.");
  for (const auto& [name, mean] : scores.result()) EXPECT_NEAR(mean.value, 100, 1e-9) << name;
}

TEST(TextScores, OfTextsWithoutACommonWordAreZero) {
  TextScores scores;
  scores.add("one two three four", "five six seven eight");
  for (const auto& [name, mean] : scores.result()) EXPECT_EQ(mean.value, 0) << name;
}

TEST(TextScores, BleuIsTheGeometricMeanOfPrecisionsByHand) {
  // Precisions 5/6, 3/5, 2/4, 1/3.
  EXPECT_NEAR(score("the cat sat on a mat", "the cat sat on the mat", "bleu"), 100 * std::pow(1.0 / 12, 0.25), 1e-9);
}

TEST(TextScores, BleuPunishesShortTexts) {
  // All precisions are 1; four words of six: exp(1 - 6/4).
  EXPECT_NEAR(score("the cat sat on", "the cat sat on the mat", "bleu"), 100 * std::exp(-0.5), 1e-9);
}

TEST(TextScores, BleuSmoothsCountsOfZero) {
  // Precisions 2/4, 1/3, then 0/2 as 1/2 of one, 0/1 as 1/4 of one.
  EXPECT_NEAR(score("a b x y", "a b c d", "bleu"), 100 * std::pow(0.5 / 3 * (0.5 / 2) * (0.25 / 1), 0.25), 1e-9);
}

TEST(TextScores, RougeCountsWordsPairsAndTheLongestSubsequence) {
  EXPECT_NEAR(score("the cat sat on a mat", "the cat sat on the mat", "rouge1"), 100 * 5.0 / 6, 1e-9);
  EXPECT_NEAR(score("the cat sat on a mat", "the cat sat on the mat", "rouge2"), 60, 1e-9);
  EXPECT_NEAR(score("mat the cat", "the cat sat on the mat", "rougeL"), 100 * 2 * (2.0 / 3) * (2.0 / 6) / (1.0), 1e-9);
}

TEST(TextScores, AnswersAreComparedWithoutCasePunctuationAndArticles) {
  EXPECT_EQ(score("The cat!", "a cat", "exact_match"), 100);
  EXPECT_NEAR(score("black cat", "cat", "f1"), 100 * 2.0 / 3, 1e-9);
  EXPECT_EQ(score("", "cat", "f1"), 0);
}

TEST(TextScores, AreMeansOverTexts) {
  TextScores scores;
  scores.add("cat", "cat");
  scores.add("dog", "cat");
  EXPECT_EQ(scores.result().at("exact_match").value, 50);
  EXPECT_EQ(scores.result().at("exact_match").weight, 2);
}

TEST(TextScores, WordsOfBleuAreCutAtPunctuation) {
  EXPECT_THAT(bleu_words("Hello, world! 1,000.5 it's 3-4"),
              ElementsAre("Hello", ",", "world", "!", "1,000.5", "it's", "3", "-", "4"));
}

}  // namespace
}  // namespace pax
