#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "pax/base/error.h"
#include "pax/data/preprocessors.h"
#include "pax/data/seqio_input.h"
#include "tests/data/input_testing.h"
#include "tests/data/task_testing.h"

// What went wrong for users of other systems, as small inputs with the right answer.

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// `count` records of one token each: record i holds id `first` + i.
Tpl<TaskOrMixture> numbered(int64_t count, int64_t first = 1) {
  std::vector<Example> examples;
  for (int64_t i = 0; i < count; ++i) {
    Example example;
    example.set("targets", Ints{first + i});
    examples.push_back(std::move(example));
  }
  return ids_task(std::move(examples));
}

SeqIOInput::Config rows(Tpl<TaskOrMixture> task, int64_t length = 1) {
  SeqIOInput::Config config;
  config.name = "rows";
  config.mixture_or_task = std::move(task);
  config.split_name = "train";
  config.task_feature_lengths = {{"targets", length}};
  config.batch_size = 4;
  config.is_training = true;
  config.repeat = false;
  config.num_workers = 0;
  return config;
}

std::vector<std::unique_ptr<SeqIOInput>> on_hosts(SeqIOInput::Config config, int64_t hosts) {
  std::vector<std::unique_ptr<SeqIOInput>> inputs;
  config.batch_size = *config.batch_size / hosts;
  config.num_infeed_hosts = hosts;
  for (int64_t host = 0; host < hosts; ++host) {
    config.infeed_host_index = host;
    inputs.push_back(std::make_unique<SeqIOInput>(config));
  }
  return inputs;
}

/// The weighted labels of the next `steps` batches of all hosts, sorted.
std::vector<int32_t> take(const std::vector<std::unique_ptr<SeqIOInput>>& inputs, int steps) {
  std::vector<int32_t> labels;
  for (int step = 0; step < steps; ++step) {
    for (const auto& input : inputs) {
      const std::optional<HostTree> batch = input->next();
      if (!batch) continue;
      for (const int32_t label : weighted_labels(*batch)) labels.push_back(label);
    }
  }
  std::ranges::sort(labels);
  return labels;
}

std::vector<int32_t> from_to(int32_t first, int32_t last) {
  std::vector<int32_t> ids(static_cast<size_t>(last - first + 1));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

TEST(UserReports, R10ResumeOnFewerHostsGoesOnExactly) {
  const auto four = on_hosts(rows(numbered(32)), 4);
  std::vector<int32_t> seen = take(four, 2);
  ASSERT_EQ(seen.size(), 8U);
  std::vector<std::string> states;
  for (const auto& input : four) states.push_back(input->save());
  const auto two = on_hosts(rows(numbered(32)), 2);
  for (const auto& input : two) input->restore(states);
  const std::vector<int32_t> rest = take(two, 100);
  EXPECT_EQ(rest.size(), 24U);
  seen.insert(seen.end(), rest.begin(), rest.end());
  std::ranges::sort(seen);
  EXPECT_THAT(seen, ElementsAreArray(from_to(1, 32)));
}

TEST(UserReports, R12AnotherDataSetIsNamedOrBeginsAtItsFirstRecord) {
  SeqIOInput a(rows(numbered(32)));
  a.next();
  SeqIOInput::Config config = rows(numbered(4, 100));
  config.shuffle = false;
  SeqIOInput refuses(config);
  EXPECT_THAT([&] { refuses.restore(a.save()); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("32 records"), HasSubstr("4 records"))));
  config.on_dataset_change = OnChange::kRestart;
  SeqIOInput restarts(config);
  restarts.restore(a.save());
  EXPECT_THAT(weighted_labels(*restarts.next()), ElementsAre(100, 101, 102, 103));
}

TEST(UserReports, R22HostsWithUnequalCountsEndTogetherWithTheExactWeight) {
  SeqIOInput::Config config = rows(numbered(5));
  config.is_training = false;
  config.reset_for_eval = true;
  config.batch_size = 2;
  double weight = 0;
  for (const auto& host : on_hosts(config, 2)) {
    const std::vector<HostTree> batches = take_all(*host);
    EXPECT_EQ(batches.size(), 3U);
    for (const HostTree& batch : batches) weight += count_tokens(batch).weight;
  }
  EXPECT_EQ(weight, 5);
}

TEST(UserReports, R27NoTargetIsPredictedFromTheDocumentBefore) {
  std::vector<Example> documents(2);
  documents[0].set("targets", Ints{5, 6, 7});
  documents[1].set("targets", Ints{8, 9});
  SeqIOInput::Config config = rows(ids_task(documents), 6);
  config.batch_size = 1;
  config.shuffle = false;
  LanguageModelFeatures::Config features;
  features.pack = true;
  config.feature_converter = features;
  SeqIOInput input(config);
  const HostTree batch = *input.next();
  // The first target of each document is predicted from bos, 0 here.
  const auto ids = batch.at("ids").values<int32_t>();
  EXPECT_THAT(std::vector<int32_t>(ids.begin(), ids.end()), ElementsAre(0, 5, 6, 0, 8, 0));
  EXPECT_THAT(weighted_labels(batch), ElementsAre(5, 6, 7, 8, 9));
}

TEST(UserReports, R28AShufflePassGivesEveryRecordOnceOnAnyHosts) {
  const std::vector<int32_t> all = from_to(1, 64);
  std::vector<HostTree> orders;
  for (const int64_t seed : {1, 2}) {
    SeqIOInput::Config config = rows(numbered(64));
    config.input_random_seed = seed;
    EXPECT_THAT(take(on_hosts(config, 4), 100), ElementsAreArray(all));
    SeqIOInput one(config);
    orders.push_back(*one.next());
  }
  EXPECT_FALSE(equal(orders[0], orders[1]));
}

TEST(UserReports, R31OneBosOneEosAndEveryTokenOnceInOrder) {
  Ints document;
  for (int64_t i = 0; i < 20; ++i) document.push_back(10 + i);
  std::vector<Example> examples(1);
  examples[0].set("targets", document);
  Tpl<TaskOrMixture> task = ids_task(examples);
  AddBosEos::Config ends;
  task.set("preprocessors", std::vector<Tpl<Preprocessor>>{ends, SplitTokens::Config{}});
  SeqIOInput::Config config = rows(std::move(task), 8);
  config.batch_size = 1;
  config.shuffle = false;
  SeqIOInput input(config);
  std::vector<int32_t> stream;
  for (const HostTree& batch : take_all(input)) {
    for (const int32_t label : weighted_labels(batch)) stream.push_back(label);
  }
  std::vector<int32_t> expected = from_to(10, 29);
  expected.insert(expected.begin(), BytesTokenizer::kBos);
  expected.push_back(BytesTokenizer::kEos);
  EXPECT_THAT(stream, ElementsAreArray(expected));
}

TEST(UserReports, R61RealTokensAreCountedApartFromPadding) {
  SeqIOInput input(rows(numbered(8), 2));
  const TokenCount count = count_tokens(*input.next());
  EXPECT_EQ(count.slots, 8);
  EXPECT_EQ(count.tokens, 4);
}

}  // namespace
}  // namespace pax::data
