#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "pax/base/error.h"
#include "pax/config/registry.h"
#include "pax/data/bucket_input.h"
#include "pax/data/line_input.h"
#include "pax/data/multi_input.h"
#include "pax/data/registry.h"
#include "pax/data/synthetic_input.h"
#include "pax/data/token_file_input.h"
#include "tests/data/input_testing.h"

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

FileSource::Config lines_of(const std::string& path) {
  FileSource::Config config;
  config.file_pattern = path;
  return config;
}

TEST(LineInput, LinesBeginWithBosAndEndWithEos) {
  const TempDirectory folder;
  LineInput::Config config;
  config.name = "eval";
  config.input_file = put(folder, "a.txt", "A\nBCDEFG\n");
  config.batch_size = 3;
  config.max_sequence_length = 4;
  LineInput input(config);
  const HostTree batch = *input.next();
  EXPECT_THAT(batch.at("ids").values<int32_t>(), ElementsAre(2, 68, 0, 0, 2, 69, 70, 71, 0, 0, 0, 0));
  EXPECT_THAT(batch.at("labels").values<int32_t>(), ElementsAre(68, 1, 0, 0, 69, 70, 71, 72, 0, 0, 0, 0));
  EXPECT_EQ(count_tokens(batch).weight, 6);
  EXPECT_FALSE(input.next());
}

TEST(TokenFileInput, ReadsIdsOfTwoBytes) {
  const TempDirectory folder;
  TokenFileInput::Config config;
  config.name = "bin";
  config.path = put(folder, "a.bin", std::string("\x01\x00\x02\x00\x03\x01", 6));
  config.seq_len = 2;
  config.batch_size = 2;
  TokenFileInput input(config);
  const HostTree batch = *input.next();
  EXPECT_THAT(batch.at("labels").values<int32_t>(), ElementsAre(1, 2, 259, 0));
  EXPECT_THAT(batch.at("ids").values<int32_t>(), ElementsAre(0, 1, 2, 0));
}

TEST(TokenFileInput, NamesAFileOfHalfAnId) {
  const TempDirectory folder;
  TokenFileInput::Config config;
  config.path = put(folder, "a.bin", "abc");
  config.seq_len = 2;
  config.batch_size = 1;
  EXPECT_THAT([&] { TokenFileInput input(config); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("a.bin"), HasSubstr("3 bytes"))));
}

BucketInput::Config bucket_config(const std::string& path) {
  BucketInput::Config config;
  config.name = "buckets";
  config.source = lines_of(path);
  config.batch_size = 2;
  config.bucket_upper_bound = {4, 8, 16};
  config.is_training = true;
  return config;
}

/// Lines of 1 to 14 letters.
std::string ragged_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += std::string(static_cast<size_t>(1 + i * 5 % 14), static_cast<char>('a' + i % 26)) + "\n";
  return text;
}

TEST(BucketInput, BatchesAreAsLongAsTheirBucket) {
  const TempDirectory folder;
  BucketInput input(bucket_config(put(folder, "a.txt", ragged_lines(60))));
  std::set<int64_t> lengths;
  for (const HostTree& batch : take_all(input, 30)) {
    const int64_t length = batch.at("ids").shape()[1];
    lengths.insert(length);
    const int64_t shorter = length == 4 ? 0 : length / 2;
    for (int64_t row = 0; row < 2; ++row) {
      int64_t used = 0;
      for (int64_t t = 0; t < length; ++t) {
        used += batch.at("paddings").values<float>()[static_cast<size_t>(row * length + t)] == 0 ? 1 : 0;
      }
      EXPECT_GT(used, shorter);
    }
  }
  EXPECT_THAT(lengths, ElementsAre(4, 8, 16));
}

TEST(BucketInput, HostsAgreeOnEveryBucketAndShareItsRows) {
  const TempDirectory folder;
  BucketInput::Config config = bucket_config(put(folder, "a.txt", ragged_lines(60)));
  config.num_infeed_hosts = 2;
  BucketInput first(config);
  config.infeed_host_index = 1;
  BucketInput second(config);
  for (int i = 0; i < 20; ++i) {
    const HostTree a = *first.next();
    const HostTree b = *second.next();
    EXPECT_EQ(a.at("ids").shape(), b.at("ids").shape());
    EXPECT_FALSE(equal(a, b));
  }
}

TEST(BucketInput, ContinuesBitEqualWithOpenBuckets) {
  const TempDirectory folder;
  const BucketInput::Config config = bucket_config(put(folder, "a.txt", ragged_lines(60)));
  BucketInput straight(config);
  for (int i = 0; i < 7; ++i) straight.next();
  BucketInput resumed(config);
  resumed.restore(straight.save());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(equal(*straight.next(), *resumed.next()));
}

TEST(BucketInput, FiniteDataEndsWithItsOpenBuckets) {
  const TempDirectory folder;
  BucketInput::Config config = bucket_config(put(folder, "a.txt", "ab\nabcdef\nabc\n"));
  config.is_training = false;
  BucketInput input(config);
  double rows = 0;
  for (const HostTree& batch : take_all(input)) rows += static_cast<double>(count_tokens(batch).segments);
  EXPECT_EQ(rows, 3);
}

TEST(BucketInput, RecordsThatFitNoBucketAreAnErrorNotAHang) {
  const TempDirectory folder;
  BucketInput input(bucket_config(put(folder, "a.txt", std::string(100, 'x') + "\n")));
  EXPECT_THAT([&] { input.next(); }, ThrowsMessage<RuntimeError>(HasSubstr("longest bucket of 16")));
}

SyntheticLmData::Config synthetic(int64_t seq_len) {
  SyntheticLmData::Config config;
  config.batch_size = 2;
  config.seq_len = seq_len;
  return config;
}

TEST(MultiInput, InputsAreBranchesOfTheBatch) {
  MultiInput::Config config;
  config.name = "both";
  config.batch_size = 2;
  config.input_to_params = {{"a", synthetic(3)}, {"b", synthetic(5)}};
  MultiInput input(config);
  const HostTree batch = *input.next();
  EXPECT_EQ(batch.at("a/ids").shape(), (Shape{2, 3}));
  EXPECT_EQ(batch.at("b/ids").shape(), (Shape{2, 5}));
  MultiInput restored(config);
  EXPECT_NO_THROW(restored.restore(input.save()));
}

TEST(LimitedInput, EndsAfterItsBatchesAndBeginsAgainOnReset) {
  LimitedInput::Config config;
  config.name = "few";
  config.batch_size = 2;
  config.input = synthetic(3);
  config.num_batches = 3;
  LimitedInput input(config);
  EXPECT_EQ(take_all(input).size(), 3U);
  input.reset();
  EXPECT_EQ(take_all(input).size(), 3U);
  input.reset();
  input.next();
  LimitedInput resumed(config);
  resumed.restore(input.save());
  EXPECT_EQ(take_all(resumed).size(), 2U);
}

TEST(Registry, NamesEveryInputOfPax) {
  config::Registry registry;
  register_inputs(registry);
  for (const char* name : {"SeqIOInput", "SyntheticLmData", "LingvoInputAdaptor", "MultiInput", "pax.TextInput"}) {
    EXPECT_NO_THROW(registry.find_for<Input>(name)) << name;
  }
}

TEST(InputConfig, AHostIndexBeyondTheHostsIsNamed) {
  SyntheticLmData::Config config = synthetic(3);
  config.infeed_host_index = 4;
  config.num_infeed_hosts = 4;
  EXPECT_THAT([&] { SyntheticLmData input(config); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("infeed_host_index"), HasSubstr("is 4"))));
}

}  // namespace
}  // namespace pax::data
