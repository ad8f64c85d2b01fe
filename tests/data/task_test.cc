#include "pax/data/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "pax/base/error.h"
#include "pax/data/preprocessors.h"
#include "tests/data/input_testing.h"
#include "tests/data/task_testing.h"

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

Example targets(Ints ids) {
  Example example;
  example.set("targets", std::move(ids));
  return example;
}

/// What a preprocessor makes of one example with `targets` of length `length`.
std::vector<Example> apply(const Preprocessor& preprocessor, Example example, int64_t length = 100, uint64_t key = 1) {
  const std::map<std::string, PreprocessContext::Feature> features{
      {"targets", {std::make_shared<BytesTokenizer>(), true, true}}};
  const FeatureLengths lengths{{"targets", length}};
  std::vector<Example> examples{std::move(example)};
  preprocessor.apply(examples, PreprocessContext{features, lengths, key});
  return examples;
}

TEST(Preprocessors, RekeyRenamesAndDropsTheRest) {
  Rekey::Config config;
  config.key_map = {{"targets", "text"}, {"inputs", ""}};
  Example example;
  example.set_text("text", "abc");
  example.set_text("url", "x");
  const Example out = apply(Rekey(config), example).at(0);
  EXPECT_EQ(out.text("targets"), "abc");
  EXPECT_EQ(out.text("inputs"), "");
  EXPECT_EQ(out.find("url"), nullptr);
}

TEST(Preprocessors, TokenizeKeepsTheTextBeside) {
  Example example;
  example.set_text("targets", "A");
  const Example out = apply(Tokenize({}), example).at(0);
  EXPECT_EQ(out.ints("targets"), Ints{'A' + 3});
  EXPECT_EQ(out.text("targets_pretokenized"), "A");
}

TEST(Preprocessors, EosAfterTrimIsNeverCutOff) {
  EXPECT_EQ(apply(AppendEos({}), targets({5, 6, 7}), 3).at(0).ints("targets"), (Ints{5, 6, 7, 1}));
  EXPECT_EQ(apply(AppendEosAfterTrim({}), targets({5, 6, 7}), 3).at(0).ints("targets"), (Ints{5, 6, 1}));
}

TEST(Preprocessors, ALongDocumentHasOneBosOneEosAndEveryTokenOnce) {
  Ints document;
  for (int64_t i = 10; i < 30; ++i) document.push_back(i);
  const std::vector<Example> marked = apply(AddBosEos({}), targets(document));
  Ints stream;
  for (const Example& piece : apply(SplitTokens({}), marked.at(0), 8)) {
    EXPECT_LE(piece.ints("targets").size(), 8U);
    for (const int64_t id : piece.ints("targets")) stream.push_back(id);
  }
  Ints expected = document;
  expected.insert(expected.begin(), BytesTokenizer::kBos);
  expected.push_back(BytesTokenizer::kEos);
  EXPECT_EQ(stream, expected);
}

TEST(Preprocessors, BosAndEosAreIndependent) {
  AddBosEos::Config only_eos;
  only_eos.bos = false;
  EXPECT_EQ(apply(AddBosEos(only_eos), targets({9})).at(0).ints("targets"), (Ints{9, 1}));
  AddBosEos::Config only_bos;
  only_bos.eos = false;
  EXPECT_EQ(apply(AddBosEos(only_bos), targets({9})).at(0).ints("targets"), (Ints{2, 9}));
}

TEST(SpanCorruption, TakesOutTheAskedShareInSpansAndLosesNothing) {
  Ints document;
  for (int64_t i = 0; i < 200; ++i) document.push_back(1000 + i);
  const Example out = apply(SpanCorruption({}), targets(document)).at(0);
  const int64_t first_sentinel = BytesTokenizer::kVocabSize + 99;
  const auto is_sentinel = [&](int64_t id) { return id <= first_sentinel && id < 1000; };
  // Inputs and targets, put together at the sentinels, are the document: they start with a clean span.
  Ints merged;
  const Ints& inputs = out.ints("inputs");
  const Ints& hidden = out.ints("targets");
  EXPECT_EQ(hidden.front(), first_sentinel);
  size_t at = 1;
  int64_t taken = 0;
  for (const int64_t id : inputs) {
    if (!is_sentinel(id)) {
      merged.push_back(id);
      continue;
    }
    while (at < hidden.size() && !is_sentinel(hidden[at])) {
      merged.push_back(hidden[at++]);
      ++taken;
    }
    ++at;
  }
  EXPECT_EQ(merged, document);
  EXPECT_EQ(taken, 30);
  EXPECT_EQ(std::ranges::count_if(inputs, is_sentinel), 10);
}

TEST(SpanCorruption, DependsOnTheKeyOnly) {
  EXPECT_EQ(random_spans(100, 0.15, 3, 5), random_spans(100, 0.15, 3, 5));
  EXPECT_NE(random_spans(100, 0.15, 3, 5), random_spans(100, 0.15, 3, 6));
}

TEST(PrefixLm, InputsAndTargetsAreTheDocument) {
  const Example out = apply(PrefixLm({}), targets({5, 6, 7, 8})).at(0);
  Ints all = out.ints("inputs");
  for (const int64_t id : out.ints("targets")) all.push_back(id);
  EXPECT_EQ(all, (Ints{5, 6, 7, 8}));
}

TEST(Task, AMissingFeatureNamesTaskRecordAndTheFieldsThereAre) {
  Example bad;
  bad.set("target", Ints{1});
  const auto set = open_task(ids_task({targets({1}), bad}), {.lengths = {{"targets", 4}}});
  std::vector<Example> out;
  EXPECT_NO_THROW(set->at(0, out));
  EXPECT_THAT([&] { set->at(1, out); },
              ThrowsMessage<RuntimeError>(
                  AllOf(HasSubstr("task toy"), HasSubstr("record 1"), HasSubstr("\"targets\""), HasSubstr("target"))));
}

TEST(Task, NamesTheSplitsThereAre) {
  EXPECT_THAT([&] { open_task(ids_task({targets({1})}), {.split = "trian"}); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("trian"), HasSubstr("Did you mean \"train\"?"))));
}

TEST(MixSchedule, EveryWindowHasEachShareToWithinOne) {
  const MixSchedule schedule({5, 3, 1.5, 0.5});
  const std::vector<double> shares{0.5, 0.3, 0.15, 0.05};
  std::vector<std::vector<int64_t>> before{{0, 0, 0, 0}};
  for (int64_t position = 0; position < 3000; ++position) {
    const MixSchedule::Place place = schedule.at(position);
    std::vector<int64_t> counts = before.back();
    EXPECT_EQ(place.index, counts[place.part]);
    ++counts[place.part];
    before.push_back(counts);
    for (size_t part = 0; part < shares.size(); ++part) {
      EXPECT_NEAR(static_cast<double>(counts[part]), shares[part] * static_cast<double>(position + 1), 1.0)
          << "position " << position << " part " << part;
    }
  }
}

TEST(MixSchedule, RefusesRatesThatAreNoShares) {
  EXPECT_THROW(MixSchedule({0, 0}), ConfigError);
  EXPECT_THROW(MixSchedule({1, -1}), ConfigError);
}

TEST(Mixture, TemperatureEvensRatesOut) {
  const std::vector<Example> many(16, targets({7}));
  const std::vector<Example> few(1, targets({8}));
  Mixture::Config config;
  config.name = "mix";
  config.tasks = {{ids_task(many), std::nullopt}, {ids_task(few), std::nullopt}};
  config.temperature = 2;
  const auto set = Mixture(config).open({.lengths = {{"targets", 4}}, .epochs = std::nullopt});
  std::vector<Example> out;
  for (int64_t i = 0; i < 500; ++i) set->at(i, out);
  const auto eights = std::ranges::count_if(out, [](const Example& e) { return e.ints("targets") == Ints{8}; });
  EXPECT_NEAR(static_cast<double>(eights), 500 * 1.0 / 5.0, 1.0);
}

TEST(FiniteMix, GivesEveryExampleOfEveryPartOnceAndRatesHoldUntilTheFirstEnds) {
  const FiniteMix mix({3, 1, 0, 2}, {90, 100, 5, 7});
  ASSERT_EQ(mix.size(), 197);
  std::map<size_t, int64_t> counts;
  for (int64_t position = 0; position < mix.size(); ++position) {
    const MixSchedule::Place place = mix.at(position);
    EXPECT_EQ(place.index, counts[place.part]++) << position;
    if (position == 17) {
      EXPECT_THAT(counts, ElementsAre(Pair(0, 9), Pair(1, 3), Pair(3, 6)));
    }
  }
  EXPECT_THAT(counts, ElementsAre(Pair(0, 90), Pair(1, 100), Pair(3, 7)));
}

TEST(FiniteMix, AVerySmallShareComesLast) {
  const FiniteMix mix({1e9, 1}, {1000, 3});
  ASSERT_EQ(mix.size(), 1003);
  EXPECT_EQ(mix.at(999).part, 0U);
  EXPECT_EQ(mix.at(1000).part, 1U);
  EXPECT_EQ(mix.at(1002).index, 2);
}

TEST(Mixture, ReadTwiceGivesEveryRecordTwice) {
  Mixture::Config config;
  config.name = "mix";
  config.tasks = {{ids_task({targets({1}), targets({2}), targets({3})}), 1.0}, {ids_task({targets({4})}), 1.0}};
  const auto set = Mixture(config).open({.epochs = 2});
  ASSERT_EQ(set->size(), 8);
  std::vector<Example> out;
  for (int64_t i = 0; i < 8; ++i) set->at(i, out);
  std::map<int64_t, int> seen;
  for (const Example& example : out) ++seen[example.ints("targets").front()];
  EXPECT_THAT(seen, ElementsAre(Pair(1, 2), Pair(2, 2), Pair(3, 2), Pair(4, 2)));
}

}  // namespace
}  // namespace pax::data
