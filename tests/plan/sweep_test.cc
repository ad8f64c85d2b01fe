#include "pax/plan/sweep.h"

#include <gmock/gmock.h>

#include "pax/base/error.h"

namespace pax {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SweepRow row(bool fits, double step, int64_t peak, std::string error = "") {
  return {.error = std::move(error), .fits = fits, .peak_bytes = peak, .step_s = step};
}

TEST(Sweep, RanksWhatFitsBySpeedAndTheRestByNeed) {
  std::vector<SweepRow> rows{row(false, 1, 50), row(true, 3, 10), row(false, 0, 40), row(true, 2, 20),
                             row(false, 0, 0, "x")};
  rank(rows);
  std::vector<int64_t> peaks;
  for (const SweepRow& one : rows) peaks.push_back(one.peak_bytes);
  EXPECT_THAT(peaks, ElementsAre(20, 10, 40, 50, 0));
}

TEST(Sweep, ReadsAPlansJson) {
  const SweepRow read = sweep_row({"A=1"}, R"({"fits":true,"peak_bytes_per_device":7,"predicted_step_s":0.5,
      "predicted_mfu":0.25,"memory":{"capacity":9}})");
  EXPECT_TRUE(read.fits);
  EXPECT_EQ(read.peak_bytes, 7);
  EXPECT_EQ(read.step_s, 0.5);
  EXPECT_THAT(sweep_text({read}), HasSubstr("25.0 %"));
  EXPECT_EQ(sweep_row({}, "not json").error, "no plan");
}

TEST(Sweep, NamesWhatCanBeVaried) {
  EXPECT_THAT(parse_sweep("remat,mesh"), ElementsAre(SweepOver::kRemat, SweepOver::kMesh));
  try {
    parse_sweep("remat,mash");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Did you mean \"mesh\""));
  }
}

}  // namespace
}  // namespace pax
