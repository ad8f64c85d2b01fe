#include "pax/data/prefetcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "pax/base/error.h"
#include "pax/data/synthetic_input.h"
#include "pax/data/text_input.h"
#include "tests/data/input_testing.h"

namespace pax::data {
namespace {

/// Gives `good` batches, then throws.
class Failing final : public Input {
 public:
  Failing(int good, std::chrono::milliseconds delay) : Input(config()), good_(good), delay_(delay) {}
  BatchSpec spec() const override { return {{"n", TensorType{DType::kS32, {}}}}; }

 protected:
  std::optional<HostTree> produce() override {
    std::this_thread::sleep_for(delay_);
    if (made_ == good_) fail<RuntimeError>("record 3 is damaged");
    return HostTree{{"n", HostArray::scalar<int32_t>(made_++)}};
  }
  void rewind() override { made_ = 0; }
  std::string save_position() const override { return std::to_string(made_); }
  void restore_position(std::span<const std::string> states) override { made_ = std::stoi(states[0]); }

 private:
  static InputConfig config() {
    InputConfig config;
    config.batch_size = 1;
    return config;
  }
  int good_;
  int made_ = 0;
  std::chrono::milliseconds delay_;
};

std::shared_ptr<Input> failing(int good, int delay_ms = 0) {
  return std::make_shared<Failing>(good, std::chrono::milliseconds(delay_ms));
}

TEST(Prefetcher, GivesTheBatchesOfItsInputInOrder) {
  Prefetcher prefetcher(failing(3));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(prefetcher.next()->at("n").item(), i);
}

TEST(Prefetcher, ThrowsTheErrorWhereItsBatchWouldHaveCome) {
  Prefetcher prefetcher(failing(2), 8);
  prefetcher.next();
  prefetcher.next();
  EXPECT_THROW(prefetcher.next(), RuntimeError);
  EXPECT_THROW(prefetcher.next(), RuntimeError);
}

TEST(Prefetcher, StateIsThatOfTheBatchTakenNotOfTheBatchMade) {
  Prefetcher prefetcher(failing(100), 8);
  prefetcher.next();
  prefetcher.next();
  EXPECT_EQ(prefetcher.state(), "2");
}

TEST(Prefetcher, RestoreContinuesThere) {
  Prefetcher prefetcher(failing(100), 4);
  prefetcher.next();
  const std::string state = "41";
  prefetcher.restore(std::span(&state, 1));
  EXPECT_EQ(prefetcher.next()->at("n").item(), 41);
}

TEST(Prefetcher, ResetBeginsAgain) {
  Prefetcher prefetcher(failing(100), 4);
  prefetcher.next();
  prefetcher.reset();
  EXPECT_EQ(prefetcher.next()->at("n").item(), 0);
}

TEST(Prefetcher, EndsAgainAndAgain) {
  const TempDirectory folder;
  TextInput::Config config;
  config.path = put(folder, "a.txt", "abcdefgh");
  config.batch_size = 1;
  config.seq_len = 4;
  config.eval_every = 0;
  Prefetcher prefetcher(std::make_shared<TextInput>(config));
  EXPECT_TRUE(prefetcher.next());
  EXPECT_TRUE(prefetcher.next());
  EXPECT_FALSE(prefetcher.next());
  EXPECT_FALSE(prefetcher.next());
}

TEST(Prefetcher, MeasuresTheTimeWaitedForASlowInput) {
  Prefetcher prefetcher(failing(10, 5), 1);
  for (int i = 0; i < 6; ++i) prefetcher.next();
  EXPECT_GT(prefetcher.waited().count(), 0.015);
}

TEST(Prefetcher, CanBeDroppedWhileItsQueueIsFull) {
  SyntheticLmData::Config config;
  config.batch_size = 2;
  config.seq_len = 8;
  Prefetcher prefetcher(std::make_shared<SyntheticLmData>(config));
  EXPECT_TRUE(prefetcher.next());
}

TEST(SyntheticLmData, IsAllOnesWithCountingPositions) {
  SyntheticLmData::Config config;
  config.batch_size = 2;
  config.seq_len = 3;
  SyntheticLmData input(config);
  const HostTree batch = *input.next();
  EXPECT_THAT(batch.at("ids").values<int32_t>(), ::testing::Each(1));
  EXPECT_THAT(batch.at("segment_pos").values<int32_t>(), ::testing::ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(batch.at("paddings").values<float>(), ::testing::Each(0.0F));
}

}  // namespace
}  // namespace pax::data
