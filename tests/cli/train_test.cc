#include <gmock/gmock.h>

#include <csignal>
#include <random>
#include <thread>

#include "pax/base/text.h"
#include "tests/cli/paxml.h"

namespace pax {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Train : public ::testing::Test {
 protected:
  Train() { write_text(text_, 6000); }

  std::filesystem::path run_dir(const std::string& name) const { return files_.path() / name; }

  std::vector<std::string> train(const std::string& run, int steps, std::vector<std::string> more = {}) const {
    std::vector<std::string> args{"train"};
    const std::vector<std::string> tiny = tiny_experiment(text_, steps);
    args.insert(args.end(), tiny.begin(), tiny.end());
    args.insert(args.end(), {"--job_log_dir", run_dir(run).string()});
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  std::string hash(const std::string& run) const { return paxml({"checkpoint", "hash", run_dir(run).string()}).out; }

  std::vector<std::string> metric_lines(const std::string& run) const {
    std::vector<std::string> lines = split(read_file(run_dir(run) / "metrics.jsonl"), '\n');
    lines.pop_back();
    return lines;
  }

  TempDirectory files_;
  const std::filesystem::path text_ = files_.path() / "text.txt";
};

TEST_F(Train, WritesMetricsCheckpointsSummariesAndItsConfig) {
  const Ended ended = paxml(train("a", 4));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("held_out: avg_xent"), HasSubstr("finished at step 4")));
  const std::vector<std::string> lines = metric_lines("a");
  ASSERT_EQ(lines.size(), 4u);
  for (const char* field :
       {"step", "loss", "learning_rate", "grad_norm", "tokens", "tokens_per_s", "mfu", "compile_count"}) {
    EXPECT_THAT(lines[0], HasSubstr(std::string("\"") + field + "\":"));
  }
  EXPECT_TRUE(std::filesystem::exists(run_dir("a") / "checkpoints" / "checkpoint_00000004"));
  EXPECT_TRUE(std::filesystem::exists(run_dir("a") / "summaries" / "train"));
  EXPECT_THAT(read_file(run_dir("a") / "model_params.txt"), HasSubstr("model_dims: 16"));
}

TEST_F(Train, ThatIsContinuedEqualsTheRunThatNeverStopped) {
  ASSERT_EQ(paxml(train("straight", 18)).exit_code, 0);
  ASSERT_EQ(paxml(train("stopped", 8)).exit_code, 0);
  const Ended continued = paxml(train("stopped", 18));
  ASSERT_EQ(continued.exit_code, 0) << continued.err;
  EXPECT_THAT(continued.err, HasSubstr("continuing from checkpoint 8"));
  EXPECT_EQ(hash("stopped"), hash("straight"));
  EXPECT_EQ(metric_lines("stopped").size(), 18u);
}

TEST_F(Train, TwoRunsOfOneSeedAreEqualToTheBit) {
  ASSERT_EQ(paxml(train("a", 6)).exit_code, 0);
  ASSERT_EQ(paxml(train("b", 6)).exit_code, 0);
  EXPECT_EQ(hash("a"), hash("b"));
  ASSERT_EQ(paxml(train("c", 6, {"--set", "task.train.random_seed=7"})).exit_code, 0);
  EXPECT_NE(hash("c"), hash("a"));
}

TEST_F(Train, KilledAtAnyMomentEndsAsIfItNeverWas) {
  ASSERT_EQ(paxml(train("straight", 40)).exit_code, 0);
  std::mt19937 random(7);
  int killed = 0;
  for (int i = 0; i < 6; ++i) {
    Paxml process(train("killed", 40, {"--set", "task.train.save_interval_steps=2"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + random() % 600));
    process.signal(SIGKILL);
    killed += process.wait().exit_code == 128 + SIGKILL ? 1 : 0;
  }
  const Ended ended = paxml(train("killed", 40, {"--set", "task.train.save_interval_steps=2"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_GT(killed, 0);
  EXPECT_EQ(hash("killed"), hash("straight"));
}

TEST_F(Train, SavesAndExitsWith3WhenAskedToStop) {
  ASSERT_EQ(paxml(train("straight", 3000)).exit_code, 0);
  Paxml process(train("stopped", 3000));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  process.signal(SIGTERM);
  const Ended stopped = process.wait();
  if (stopped.exit_code == 0) GTEST_SKIP() << "the run was over before the signal came";
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  ASSERT_EQ(paxml(train("stopped", 3000)).exit_code, 0);
  EXPECT_EQ(hash("stopped"), hash("straight"));
}

TEST_F(Train, CompilesOnceAndTheSecondStartNotAtAll) {
  const std::string cache = "XDG_CACHE_HOME=" + run_dir("cache").string();
  ASSERT_EQ(paxml(train("first", 6), {cache}).exit_code, 0);
  ASSERT_EQ(paxml(train("second", 6), {cache}).exit_code, 0);
  const std::vector<std::string> first = metric_lines("first");
  EXPECT_THAT(first.front(), Not(HasSubstr("\"compile_count\": 0")));
  const std::string count = first.front().substr(first.front().find("\"compile_count\""));
  for (const std::string& line : first) EXPECT_THAT(line, HasSubstr(count));
  for (const std::string& line : metric_lines("second")) EXPECT_THAT(line, HasSubstr("\"compile_count\": 0"));
}

TEST_F(Train, StopsWithACheckpointWhenTheDataRunsOut) {
  const Ended ended = paxml(train("a", 100000, {"--set", "input.num_epochs=1"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("data exhausted at step"));
  EXPECT_NE(hash("a"), "");
}

TEST_F(Train, RefusesAnEvalInputThatIsMissingBeforeTheFirstStep) {
  const std::string missing = run_dir("none").string();
  const Ended ended = paxml(train("a", 4,
                                  {"--set",
                                   "eval_inputs=[{__class__: pax.TextInput, name: missing, "
                                   "batch_size: 2, seq_len: 32, path: " +
                                       missing + "}]"}));
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr(missing));
  EXPECT_FALSE(std::filesystem::exists(run_dir("a") / "checkpoints" / "checkpoint_00000004"));
}

TEST_F(Train, IsRefusedInAFolderThatAnotherProcessUses) {
  Paxml first(train("a", 200000));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  const Ended second = paxml(train("a", 10));
  first.signal(SIGKILL);
  first.wait();
  EXPECT_NE(second.exit_code, 0);
  EXPECT_THAT(second.err, AllOf(HasSubstr("in use by another process"), HasSubstr("pid")));
}

TEST_F(Train, RefusesACheckpointOfAnotherModelAndNamesTheWeights) {
  ASSERT_EQ(paxml(train("a", 2)).exit_code, 0);
  const Ended other = paxml(train("a", 4, {"--fdl.HIDDEN_DIMS=64"}));
  EXPECT_NE(other.exit_code, 0);
  EXPECT_THAT(other.err, AllOf(HasSubstr("ffn_layer1"), HasSubstr("32"), HasSubstr("64")));
}

TEST_F(Train, FallsBackToTheCheckpointBeforeADamagedOne) {
  ASSERT_EQ(paxml(train("a", 4, {"--set", "task.train.save_interval_steps=2"})).exit_code, 0);
  const auto newest = run_dir("a") / "checkpoints" / "checkpoint_00000004" / "state";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(newest)) {
    if (entry.is_regular_file() && entry.file_size() > 64) std::filesystem::resize_file(entry.path(), 10);
  }
  const Ended ended = paxml(train("a", 6));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("checkpoint_00000004"), HasSubstr("continuing from checkpoint 2")));
}

TEST_F(Train, EvalOfTheCheckpointEqualsTheEvaluationAtTheEnd) {
  const Ended trained = paxml(train("a", 4));
  std::vector<std::string> args = train("a", 4);
  args[0] = "eval";
  const Ended evaluated = paxml(args);
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const auto loss_line = [](const std::string& out) { return out.substr(out.find("held_out: avg_xent"), 40); };
  EXPECT_EQ(loss_line(evaluated.out), loss_line(trained.out));
}

}  // namespace
}  // namespace pax
