#include "pax/data/text_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "pax/base/error.h"
#include "tests/data/input_testing.h"

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TextInput::Config config_for(const std::string& path, int64_t batch_size, int64_t seq_len) {
  TextInput::Config config;
  config.name = "train";
  config.path = path;
  config.batch_size = batch_size;
  config.seq_len = seq_len;
  config.is_training = true;
  return config;
}

/// A text of `blocks` blocks of four bytes, each named by its first two.
std::string numbered_text(int blocks) {
  std::string text;
  for (int i = 0; i < blocks; ++i) text += fmt::format("{:03}\n", i);
  return text;
}

/// The numbers of the blocks that a batch holds.
std::vector<int> block_numbers(const HostTree& batch) {
  std::vector<int> numbers;
  const auto labels = batch.at("labels").values<int32_t>();
  const auto weights = batch.at("weights").values<float>();
  for (size_t i = 0; i < labels.size(); i += 4) {
    if (weights[i] == 0) continue;
    int number = 0;
    for (size_t k = 0; k < 3; ++k) number = number * 10 + labels[i + k] - BytesTokenizer::kOffset - '0';
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<int> all_block_numbers(Input& input) {
  std::vector<int> numbers;
  for (const HostTree& batch : take_all(input)) {
    for (const int number : block_numbers(batch)) numbers.push_back(number);
  }
  return numbers;
}

TEST(TextInput, LabelsAreTheTextAndInputsTheIdsBefore) {
  const TempDirectory folder;
  TextInput::Config config = config_for(put(folder, "a.txt", "abcdefg"), 1, 4);
  config.shuffle = false;
  config.eval_every = 0;
  TextInput input(config);
  const HostTree first = *input.next();
  const HostTree second = *input.next();
  const auto id = [](char c) { return c + BytesTokenizer::kOffset; };
  EXPECT_THAT(first.at("labels").values<int32_t>(), ElementsAre(id('a'), id('b'), id('c'), id('d')));
  EXPECT_THAT(first.at("ids").values<int32_t>(), ElementsAre(BytesTokenizer::kBos, id('a'), id('b'), id('c')));
  EXPECT_THAT(second.at("ids").values<int32_t>(), ElementsAre(id('d'), id('e'), id('f'), 0));
  EXPECT_THAT(second.at("weights").values<float>(), ElementsAre(1, 1, 1, 0));
}

TEST(TextInput, TrainAndEvalShareNoBlockAndMissNone) {
  const TempDirectory folder;
  const std::string path = put(folder, "a.txt", numbered_text(103));
  TextInput::Config config = config_for(path, 8, 4);
  config.num_epochs = 1;
  config.eval_every = 10;
  TextInput train(config);
  config.is_training = false;
  TextInput eval(config);
  const std::vector<int> train_blocks = all_block_numbers(train);
  const std::vector<int> eval_blocks = all_block_numbers(eval);
  EXPECT_THAT(eval_blocks, ElementsAre(9, 19, 29, 39, 49, 59, 69, 79, 89, 99));
  std::set<int> all(train_blocks.begin(), train_blocks.end());
  EXPECT_EQ(all.size(), 93U);
  all.insert(eval_blocks.begin(), eval_blocks.end());
  EXPECT_EQ(all.size(), 103U);
}

TEST(TextInput, FourHostsSeeEveryBlockOnceAndTogetherEqualOneHost) {
  const TempDirectory folder;
  const std::string path = put(folder, "a.txt", numbered_text(64));
  TextInput::Config config = config_for(path, 8, 4);
  config.eval_every = 0;
  config.num_epochs = 1;
  config.input_random_seed = 5;
  TextInput whole(config);
  const std::vector<int> expected = all_block_numbers(whole);
  EXPECT_EQ(std::set<int>(expected.begin(), expected.end()).size(), 64U);

  config.batch_size = 2;
  config.num_infeed_hosts = 4;
  std::vector<std::unique_ptr<TextInput>> hosts;
  for (int host = 0; host < 4; ++host) {
    config.infeed_host_index = host;
    hosts.push_back(std::make_unique<TextInput>(config));
  }
  std::vector<int> seen;
  for (int batch = 0; batch < 8; ++batch) {
    for (const auto& host : hosts) {
      for (const int number : block_numbers(*host->next())) seen.push_back(number);
    }
  }
  EXPECT_EQ(seen, expected);
}

TEST(TextInput, AnotherSeedGivesAnotherOrder) {
  const TempDirectory folder;
  TextInput::Config config = config_for(put(folder, "a.txt", numbered_text(64)), 8, 4);
  config.num_epochs = 1;
  TextInput first(config);
  config.input_random_seed = 1;
  TextInput second(config);
  EXPECT_NE(all_block_numbers(first), all_block_numbers(second));
}

TEST(TextInput, ContinuesBitEqualAfterRestoreInTheMiddleOfTheSecondEpoch) {
  const TempDirectory folder;
  TextInput::Config config = config_for(put(folder, "a.txt", numbered_text(12)), 2, 4);
  config.eval_every = 0;
  config.num_epochs = 3;
  TextInput straight(config);
  const std::vector<HostTree> expected = take_all(straight);
  ASSERT_EQ(expected.size(), 18U);
  TextInput stopped(config);
  for (int i = 0; i < 8; ++i) stopped.next();
  TextInput resumed(config);
  resumed.restore(stopped.save());
  const std::vector<HostTree> rest = take_all(resumed);
  ASSERT_EQ(rest.size(), 10U);
  for (size_t i = 0; i < rest.size(); ++i) EXPECT_TRUE(equal(rest[i], expected[8 + i]));
}

TEST(TextInput, ResumesOnFewerHostsWithoutLossOrRepetition) {
  const TempDirectory folder;
  const std::string path = put(folder, "a.txt", numbered_text(32));
  TextInput::Config config = config_for(path, 1, 4);
  config.eval_every = 0;
  config.num_epochs = 1;
  config.num_infeed_hosts = 4;
  std::multiset<int> seen;
  std::vector<std::string> states;
  for (int host = 0; host < 4; ++host) {
    config.infeed_host_index = host;
    TextInput input(config);
    for (int step = 0; step < 2; ++step) {
      for (const int number : block_numbers(*input.next())) seen.insert(number);
    }
    states.push_back(input.save());
  }
  EXPECT_EQ(seen.size(), 8U);
  config.batch_size = 2;
  config.num_infeed_hosts = 2;
  for (int host = 0; host < 2; ++host) {
    config.infeed_host_index = host;
    TextInput input(config);
    input.restore(states);
    for (const int number : all_block_numbers(input)) seen.insert(number);
  }
  EXPECT_EQ(seen.size(), 32U);
  EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 32U);
}

TEST(TextInput, RefusesThePositionOfAnotherFileAndNamesBoth) {
  const TempDirectory folder;
  TextInput first(config_for(put(folder, "a.txt", numbered_text(40)), 2, 4));
  for (int i = 0; i < 4; ++i) first.next();
  TextInput::Config other = config_for(put(folder, "b.txt", numbered_text(3)), 2, 4);
  TextInput second(other);
  EXPECT_THAT(
      [&] { second.restore(first.save()); },
      ThrowsMessage<RuntimeError>(AllOf(HasSubstr("a.txt"), HasSubstr("b.txt"), HasSubstr("on_dataset_change"))));
}

TEST(TextInput, RestartsAtRecordZeroOfAnotherFileWhenAsked) {
  const TempDirectory folder;
  TextInput first(config_for(put(folder, "a.txt", numbered_text(40)), 2, 4));
  for (int i = 0; i < 4; ++i) first.next();
  TextInput::Config other = config_for(put(folder, "b.txt", numbered_text(9)), 2, 4);
  other.on_dataset_change = OnChange::kRestart;
  TextInput second(other);
  const HostTree expected = *second.next();
  second.restore(first.save());
  EXPECT_TRUE(equal(*second.next(), expected));
}

TEST(TextInput, EvalOfRaggedHostsEndsTogetherWithExactTotalWeight) {
  const TempDirectory folder;
  const std::string path = put(folder, "a.txt", numbered_text(5));
  TextInput::Config config = config_for(path, 1, 4);
  config.is_training = false;
  config.eval_every = 0;
  config.num_infeed_hosts = 2;
  double weight = 0;
  for (int host = 0; host < 2; ++host) {
    config.infeed_host_index = host;
    TextInput input(config);
    const std::vector<HostTree> batches = take_all(input);
    EXPECT_EQ(batches.size(), 3U);
    for (const HostTree& batch : batches) weight += count_tokens(batch).weight;
  }
  EXPECT_EQ(weight, 5 * 4);
}

TEST(TextInput, FiniteTrainingEndsAndNoBatchIsAllPadding) {
  const TempDirectory folder;
  TextInput::Config config = config_for(put(folder, "a.txt", numbered_text(10)), 4, 4);
  config.eval_every = 0;
  config.num_epochs = 1;
  TextInput once(config);
  const std::vector<HostTree> batches = take_all(once);
  EXPECT_EQ(batches.size(), 3U);
  for (const HostTree& batch : batches) EXPECT_GT(count_tokens(batch).weight, 0);
  config.num_epochs = 2;
  TextInput twice(config);
  EXPECT_EQ(take_all(twice).size(), 5U);
}

TEST(TextInput, PeekDoesNotMoveThePosition) {
  const TempDirectory folder;
  TextInput input(config_for(put(folder, "a.txt", numbered_text(40)), 2, 4));
  input.next();
  const std::string before = input.save();
  const HostTree peeked = *input.peek();
  EXPECT_EQ(input.save(), before);
  EXPECT_TRUE(equal(*input.next(), peeked));
  EXPECT_NE(input.save(), before);
}

TEST(TextInput, MissingEmptyAndUnreadableFilesAreNamed) {
  const TempDirectory folder;
  const std::string missing = (folder.path() / "none.txt").string();
  EXPECT_THAT([&] { TextInput input(config_for(missing, 1, 4)); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("none.txt"), HasSubstr("no such file"))));
  const std::string empty = put(folder, "empty.txt", "");
  EXPECT_THAT([&] { TextInput input(config_for(empty, 1, 4)); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("empty.txt"), HasSubstr("empty"))));
  EXPECT_THAT([&] { TextInput input(config_for(folder.path().string(), 1, 4)); },
              ThrowsMessage<RuntimeError>(HasSubstr("regular file")));
}

TEST(TextInput, RefusesBinaryFilesUnlessAllowed) {
  const TempDirectory folder;
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes.push_back(static_cast<char>(i * i * 31 >> 3));
  TextInput::Config config = config_for(put(folder, "model.bin", bytes), 1, 4);
  EXPECT_THAT(
      [&] { TextInput input(config); },
      ThrowsMessage<RuntimeError>(AllOf(HasSubstr("model.bin"), HasSubstr("binary"), HasSubstr("allow_binary"))));
  config.allow_binary = true;
  EXPECT_NO_THROW(TextInput input(config));
}

TEST(TextInput, TooShortToHoldOutIsAnErrorOfTheEvalInput) {
  const TempDirectory folder;
  TextInput::Config config = config_for(put(folder, "a.txt", "abc"), 1, 4);
  EXPECT_NO_THROW(TextInput input(config));
  config.is_training = false;
  EXPECT_THAT([&] { TextInput input(config); }, ThrowsMessage<RuntimeError>(HasSubstr("too few to hold one out")));
}

TEST(TextInput, OneLineOfAGigabyteOpensAtOnceAndInLittleMemory) {
  const TempDirectory folder;
  const std::filesystem::path path = folder.path() / "line.txt";
  {
    std::ofstream file(path);
    file << std::string(1 << 20, 'x');
  }
  std::filesystem::resize_file(path, int64_t{1} << 30);
  TextInput::Config config = config_for(path.string(), 4, 512);
  config.allow_binary = true;
  TextInput input(config);
  const auto resident = [] {
    std::ifstream statm("/proc/self/statm");
    int64_t total = 0, pages = 0, shared = 0;
    statm >> total >> pages >> shared;
    return (pages - shared) * 4096;
  };
  const int64_t before = resident();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(input.next());
  EXPECT_LT(resident() - before, 64 << 20);
}

TEST(HeldOut, TakesTheLastOfEachGroup) {
  const HeldOut split{7, 3};
  EXPECT_EQ(split.num_eval(), 2);
  EXPECT_EQ(split.num_train(), 5);
  EXPECT_EQ(split.eval_block(1), 5);
  std::vector<int64_t> train;
  for (int64_t i = 0; i < 5; ++i) train.push_back(split.train_block(i));
  EXPECT_THAT(train, ElementsAre(0, 1, 3, 4, 6));
}

TEST(Tokenizer, BytesComeBackWhateverTheyAre) {
  const BytesTokenizer bytes;
  std::string text;
  for (int i = 0; i < 256; ++i) text.push_back(static_cast<char>(i));
  EXPECT_EQ(bytes.decode(bytes.encode(text)), text);
  EXPECT_THAT(bytes.encode("A"), ElementsAre('A' + 3));
}

}  // namespace
}  // namespace pax::data
