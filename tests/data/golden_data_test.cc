#include <gtest/gtest.h>

#include "tests/golden/input_cases.h"

namespace pax::data {
namespace {

TEST(Golden, EveryInputFileReadsAsListed) {
  const auto results = check_golden_input(PAX_SOURCE_DIR "/tests/golden/input");
  EXPECT_GE(results.size(), 13U);
  for (const GoldenResult& result : results) EXPECT_TRUE(result.ok) << result.name << ": " << result.message;
}

}  // namespace
}  // namespace pax::data
