// kill_test SAVE_LOOP KILLS: kills SAVE_LOOP at random moments and lets it go on; the final state must be that of a run
// left alone.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "pax/base/files.h"

namespace pax {
namespace {

std::string g_save_loop;
int g_kills = 10;

struct Ending {
  int status = 0;
  std::string output;
};

/// Runs the loop; kills it after `kill_after` unless that is negative.
Ending run_loop(const std::filesystem::path& job, int steps, std::chrono::microseconds kill_after) {
  const std::filesystem::path out = job / "stdout";
  const std::filesystem::path log = job / "stderr";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
    ::dup2(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644), 2);
    ::execl(g_save_loop.c_str(), g_save_loop.c_str(), job.c_str(), std::to_string(steps).c_str(), nullptr);
    ::_exit(127);
  }
  if (kill_after.count() >= 0) {
    std::this_thread::sleep_for(kill_after);
    ::kill(child, SIGKILL);
  }
  Ending result;
  ::waitpid(child, &result.status, 0);
  result.output = read_file(out);
  return result;
}

TEST(Kill, AtAnyMomentDoesNotChangeTheFinalState) {
  constexpr std::chrono::microseconds kNever{-1};
  const int steps = 3 * g_kills + 10;
  const TempDirectory undisturbed;
  const auto begin = std::chrono::steady_clock::now();
  const std::string expected = run_loop(undisturbed.path(), steps, kNever).output;
  const double step_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / steps;
  ASSERT_EQ(expected.size(), 33u);

  const TempDirectory job;
  std::mt19937 random(1234);
  std::uniform_real_distribution<double> delay(0, 4 * step_us + 10'000);
  int killed = 0;
  for (int i = 0; i < g_kills; ++i) {
    const Ending disturbed =
        run_loop(job.path(), steps, std::chrono::microseconds(static_cast<int64_t>(delay(random))));
    if (WIFSIGNALED(disturbed.status)) ++killed;
    ASSERT_TRUE(WIFSIGNALED(disturbed.status) || disturbed.status == 0) << read_file(job.path() / "stderr");
  }
  EXPECT_GT(killed, g_kills / 2);
  const Ending last = run_loop(job.path(), steps, kNever);
  EXPECT_EQ(last.status, 0) << read_file(job.path() / "stderr");
  EXPECT_EQ(last.output, expected);
}

}  // namespace
}  // namespace pax

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 3) return 2;
  pax::g_save_loop = argv[1];
  pax::g_kills = std::atoi(argv[2]);
  return RUN_ALL_TESTS();
}
