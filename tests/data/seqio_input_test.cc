#include "pax/data/seqio_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "pax/base/error.h"
#include "tests/data/input_testing.h"
#include "tests/data/task_testing.h"

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Example example(Ints targets) {
  Example made;
  made.set("targets", std::move(targets));
  return made;
}
Example example(Ints inputs, Ints targets) {
  Example made = example(std::move(targets));
  made.set("inputs", std::move(inputs));
  return made;
}

/// Documents of random lengths; document i is made of ids 1000 i + 1 and up.
std::vector<Example> documents(int count) {
  std::vector<Example> made;
  for (int i = 0; i < count; ++i) {
    Ints ids;
    for (int k = 0; k < 1 + i * 7 % 11; ++k) ids.push_back(1000 * (i + 1) + k);
    made.push_back(example(ids));
  }
  return made;
}

SeqIOInput::Config config_for(Tpl<TaskOrMixture> task, int64_t batch_size, FeatureLengths lengths, bool pack) {
  SeqIOInput::Config config;
  config.name = "train";
  config.mixture_or_task = std::move(task);
  config.split_name = "train";
  config.task_feature_lengths = std::move(lengths);
  config.batch_size = batch_size;
  LanguageModelFeatures::Config features;
  features.pack = pack;
  config.feature_converter = features;
  config.num_workers = 1;
  return config;
}

auto ints(const HostTree& batch, const char* field) { return batch.at(field).values<int32_t>(); }
auto floats(const HostTree& batch, const char* field) { return batch.at(field).values<float>(); }

TEST(LanguageModelFeatures, PacksInputsAndTargetsAsPaxDoes) {
  SeqIOInput input(config_for(ids_task({example({7, 8, 5, 1}, {3, 9, 1}), example({8, 4, 9, 3, 1}, {4, 1})}, true), 1,
                              {{"inputs", 7}, {"targets", 8}}, true));
  const HostTree batch = *input.next();
  EXPECT_THAT(ints(batch, "labels"), ElementsAre(7, 8, 5, 1, 3, 9, 1, 8, 4, 9, 3, 1, 4, 1, 0));
  EXPECT_THAT(ints(batch, "ids"), ElementsAre(0, 7, 8, 5, 1, 3, 9, 0, 8, 4, 9, 3, 1, 4, 0));
  EXPECT_THAT(floats(batch, "weights"), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0));
  EXPECT_THAT(ints(batch, "segment_pos"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0));
  EXPECT_THAT(ints(batch, "segment_ids"), ElementsAre(1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 0));
  EXPECT_THAT(ints(batch, "inputs_indicator"), ElementsAre(1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0));
}

TEST(LanguageModelFeatures, WeightsOnTargetsOnly) {
  SeqIOInput::Config config =
      config_for(ids_task({example({7, 8}, {3, 9, 1})}, true), 1, {{"inputs", 3}, {"targets", 3}}, false);
  LanguageModelFeatures::Config features;
  features.weights_on_targets_only = true;
  config.feature_converter = features;
  SeqIOInput input(config);
  const HostTree batch = *input.next();
  EXPECT_THAT(ints(batch, "labels"), ElementsAre(7, 8, 3, 9, 1, 0));
  EXPECT_THAT(floats(batch, "weights"), ElementsAre(0, 0, 1, 1, 1, 0));
  EXPECT_THAT(floats(batch, "paddings"), ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST(LanguageModelFeatures, NegativeIdsCarryNoLossAndBecomePositive) {
  SeqIOInput input(config_for(ids_task({example({-5, -6, 7, 1})}), 1, {{"targets", 5}}, false));
  const HostTree batch = *input.next();
  EXPECT_THAT(ints(batch, "labels"), ElementsAre(5, 6, 7, 1, 0));
  EXPECT_THAT(ints(batch, "ids"), ElementsAre(0, 5, 6, 7, 1));
  EXPECT_THAT(floats(batch, "weights"), ElementsAre(0, 0, 1, 1, 0));
}

TEST(LanguageModelFeatures, ReverseBosPaddingShiftsLabels) {
  SeqIOInput::Config config = config_for(ids_task({example({5, 6, 7})}), 1, {{"targets", 4}}, false);
  LanguageModelFeatures::Config features;
  features.reverse_bos_padding = true;
  features.eos_id = 9;
  config.feature_converter = features;
  SeqIOInput input(config);
  const HostTree batch = *input.next();
  EXPECT_THAT(ints(batch, "ids"), ElementsAre(5, 6, 7, 0));
  EXPECT_THAT(ints(batch, "labels"), ElementsAre(6, 7, 0, 9));
  EXPECT_THAT(floats(batch, "weights"), ElementsAre(1, 1, 0, 0));
}

TEST(LanguageModelFeatures, NoTargetCrossesTheBoundaryOfPackedDocuments) {
  // Without eos, [5,6,7] and [8,9] in one row whose inputs are the ids: targets 6, 7 and 9 count, 7 predicts nothing.
  SeqIOInput::Config config = config_for(ids_task({example({5, 6, 7}), example({8, 9})}), 1, {{"targets", 6}}, true);
  SeqIOInput input(config);
  const HostTree batch = *input.next();
  const auto ids = ints(batch, "ids");
  const auto segments = ints(batch, "segment_ids");
  EXPECT_THAT(ids, ElementsAre(0, 5, 6, 0, 8, 0));
  // The first label of each segment is predicted from bos, never from the document before.
  EXPECT_THAT(segments, ElementsAre(1, 1, 1, 2, 2, 0));
}

TEST(SequenceModelFeatures, SourceAndTargetAreBranches) {
  SeqIOInput::Config config =
      config_for(ids_task({example({7, 8, 1}, {3, 1})}, true), 1, {{"inputs", 4}, {"targets", 3}}, false);
  config.feature_converter = SequenceModelFeatures::Config{};
  SeqIOInput input(config);
  const HostTree batch = *input.next();
  EXPECT_THAT(ints(batch, "src/ids"), ElementsAre(7, 8, 1, 0));
  EXPECT_THAT(floats(batch, "src/paddings"), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(ints(batch, "tgt/ids"), ElementsAre(0, 3, 1));
  EXPECT_THAT(ints(batch, "tgt/labels"), ElementsAre(3, 1, 0));
  EXPECT_THAT(floats(batch, "tgt/weights"), ElementsAre(1, 1, 0));
}

/// All labels that carry weight, of a run on `hosts` hosts; each host's batches one after the other.
std::multiset<int32_t> labels_on(SeqIOInput::Config config, int64_t hosts) {
  const int64_t global = *config.batch_size;
  std::multiset<int32_t> labels;
  config.num_infeed_hosts = hosts;
  config.batch_size = global / hosts;
  size_t batches = 0;
  for (int64_t host = 0; host < hosts; ++host) {
    config.infeed_host_index = host;
    SeqIOInput input(config);
    const std::vector<HostTree> all = take_all(input);
    EXPECT_TRUE(host == 0 || all.size() == batches);
    batches = all.size();
    for (const HostTree& batch : all) {
      for (const int32_t label : weighted_labels(batch)) labels.insert(label);
    }
  }
  return labels;
}

TEST(SeqIOInput, AnyNumberOfHostsSeesEveryTokenOnceAndEndsTogether) {
  for (const Packing packing : {Packing::kNextFit, Packing::kFirstFit}) {
    SeqIOInput::Config config = config_for(ids_task(documents(50)), 4, {{"targets", 16}}, true);
    config.packing = packing;
    config.packing_bins = 3;
    config.drop_remainder = false;
    const std::multiset<int32_t> one = labels_on(config, 1);
    size_t expected = 0;
    for (const Example& document : documents(50)) expected += document.ints("targets").size();
    EXPECT_EQ(one.size(), expected);
    EXPECT_EQ(std::set<int32_t>(one.begin(), one.end()).size(), expected);
    EXPECT_EQ(labels_on(config, 2), one);
    EXPECT_EQ(labels_on(config, 4), one);
  }
}

TEST(SeqIOInput, WorkersDoNotChangeABatch) {
  SeqIOInput::Config config = config_for(ids_task(documents(50)), 8, {{"targets", 16}}, true);
  config.is_training = true;
  config.num_workers = 0;
  SeqIOInput alone(config);
  config.num_workers = 3;
  SeqIOInput crowd(config);
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(equal(*alone.next(), *crowd.next()));
}

TEST(SeqIOInput, ContinuesBitEqualFromASavedPosition) {
  for (const Packing packing : {Packing::kNextFit, Packing::kFirstFit}) {
    for (const int stop : {1, 2, 3, 7, 12}) {
      SeqIOInput::Config config = config_for(ids_task(documents(50)), 4, {{"targets", 16}}, true);
      config.is_training = true;
      config.packing = packing;
      config.packing_bins = 3;
      SeqIOInput straight(config);
      for (int i = 0; i < stop; ++i) straight.next();
      SeqIOInput resumed(config);
      resumed.restore(straight.save());
      for (int i = 0; i < 20; ++i) ASSERT_TRUE(equal(*straight.next(), *resumed.next())) << stop << " " << i;
    }
  }
}

TEST(SeqIOInput, ResumesOnAnotherNumberOfHosts) {
  SeqIOInput::Config config = config_for(ids_task(documents(50)), 4, {{"targets", 16}}, true);
  config.is_training = true;
  SeqIOInput whole(config);
  for (int i = 0; i < 5; ++i) whole.next();
  const HostTree expected = *whole.next();
  config.batch_size = 1;
  config.num_infeed_hosts = 4;
  std::vector<std::string> states;
  for (int host = 0; host < 4; ++host) {
    config.infeed_host_index = host;
    SeqIOInput input(config);
    for (int i = 0; i < 5; ++i) input.next();
    states.push_back(input.save());
  }
  config.batch_size = 2;
  config.num_infeed_hosts = 2;
  config.infeed_host_index = 1;
  SeqIOInput second(config);
  second.restore(states);
  const HostTree resumed = *second.next();
  const auto labels = ints(resumed, "labels");
  const auto all = ints(expected, "labels");
  EXPECT_TRUE(std::ranges::equal(labels, all.subspan(32, 32)));
}

TEST(SeqIOInput, RefusesAPositionOfAnotherGlobalBatchAndNamesBoth) {
  SeqIOInput::Config config = config_for(ids_task(documents(50)), 4, {{"targets", 16}}, true);
  config.is_training = true;
  SeqIOInput four(config);
  config.batch_size = 3;
  SeqIOInput three(config);
  EXPECT_THAT([&] { three.restore(four.save()); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("has 4 streams"), HasSubstr("this run has 3"))));
  EXPECT_THAT([&] { three.restore("{\"x\":1}"); }, ThrowsMessage<RuntimeError>(HasSubstr("damaged")));
}

TEST(SeqIOInput, EvalIsPaddedWithRowsOfNoWeight) {
  SeqIOInput::Config config = config_for(ids_task(documents(5)), 2, {{"targets", 16}}, false);
  config.reset_for_eval = true;
  SeqIOInput input(config);
  const std::vector<HostTree> batches = take_all(input);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_THAT(floats(batches[2], "eval_sample_weights"), ElementsAre(1, 0));
  double weight = 0;
  size_t expected = 0;
  for (const HostTree& batch : batches) weight += count_tokens(batch).weight;
  for (const Example& document : documents(5)) expected += document.ints("targets").size();
  EXPECT_EQ(weight, static_cast<double>(expected));
}

TEST(SeqIOInput, TrainingOnceDropsWhatFillsNoBatch) {
  SeqIOInput::Config config = config_for(ids_task(documents(10)), 4, {{"targets", 16}}, false);
  config.is_training = true;
  config.repeat = false;
  SeqIOInput input(config);
  EXPECT_EQ(take_all(input).size(), 2U);
}

TEST(SeqIOInput, FirstFitFillsRowsBetterThanNextFit) {
  const auto fill = [](Packing packing) {
    SeqIOInput::Config config = config_for(ids_task(documents(500)), 1, {{"targets", 16}}, true);
    config.is_training = true;
    config.packing = packing;
    SeqIOInput input(config);
    TokenCount total;
    for (const HostTree& batch : take_all(input, 100)) {
      total.tokens += count_tokens(batch).tokens;
      total.slots += count_tokens(batch).slots;
    }
    return static_cast<double>(total.tokens) / static_cast<double>(total.slots);
  };
  EXPECT_GT(fill(Packing::kFirstFit), fill(Packing::kNextFit));
  EXPECT_GT(fill(Packing::kFirstFit), 0.9);
}

TEST(SeqIOInput, AFeatureWithoutALengthIsNamed) {
  EXPECT_THAT(
      [&] {
        SeqIOInput input(config_for(ids_task(documents(5)), 2, {{"inputs", 16}}, false));
      },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("\"targets\""), HasSubstr("inputs"))));
}

}  // namespace
}  // namespace pax::data
