#include "pax/metrics/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pax/base/files.h"

namespace pax {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Progress kProgress{
    .step = 420, .total_steps = 1000, .loss = 1.23456, .tokens_per_s = 12345, .mfu = 0.41, .seconds_left = 83};

TEST(Progress, LineSaysStepLossSpeedUseAndTimeLeft) {
  EXPECT_EQ(render_line(kProgress), "step 420/1,000  loss 1.2346  12.3k tokens/s  MFU 41.0%  left 1m 23s");
}

TEST(Progress, LineLeavesOutWhatIsNotKnown) {
  EXPECT_EQ(render_line({.step = 1, .total_steps = 2, .loss = 3}), "step 1/2  loss 3.0000");
}

TEST(Progress, BarFillsWithTheStep) {
  EXPECT_THAT(render_bar(kProgress, 200), HasSubstr(" 42% [==========              ]  step 420/1,000"));
  EXPECT_THAT(render_bar({.step = 5, .total_steps = 0}, 200), HasSubstr("100% [========================]"));
}

TEST(Progress, BarFitsTheTerminal) {
  EXPECT_EQ(render_bar(kProgress, 10).size(), 10u);
  EXPECT_LE(render_bar(kProgress, 60).size(), 60u);
  EXPECT_THAT(render_bar(kProgress, 65), Not(HasSubstr("left")));
}

TEST(Progress, DurationsUseTheTwoLargestUnits) {
  EXPECT_EQ(human_duration(0.4), "0s");
  EXPECT_EQ(human_duration(3725), "1h 2m");
  EXPECT_EQ(human_duration(200000), "2d 7h");
  EXPECT_EQ(human_duration(1e300), "?");
}

TEST(ProgressDisplay, WritesPlainLinesToAFileAndTheLastValueAtTheEnd) {
  const TempDirectory folder;
  const auto path = folder.path() / "out";
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR, 0644);
  {
    ProgressDisplay display({.fd = fd});
    display.message("saved");
    for (int64_t step = 1; step <= 1000; ++step) display.update({.step = step, .total_steps = 1000});
  }
  ::close(fd);
  const std::string text = read_file(path);
  EXPECT_THAT(text, HasSubstr("saved\n"));
  EXPECT_TRUE(text.ends_with("step 1,000/1,000\n")) << text;
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace pax
