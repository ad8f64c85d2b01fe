#include "pax/base/text.h"

#include <gmock/gmock.h>

namespace pax {
namespace {

using ::testing::Optional;

const std::vector<std::string> kNames{"save_interval_steps", "model_dims", "num_layers"};

TEST(NearestName, FindsASlipOfThePen) {
  EXPECT_THAT(nearest_name("model_dim", kNames), Optional(std::string("model_dims")));
}

TEST(NearestName, FindsAMisspeltBeginning) {
  EXPECT_THAT(nearest_name("sav_interval", kNames), Optional(std::string("save_interval_steps")));
}

TEST(NearestName, FindsNothingWhenNothingIsNear) { EXPECT_EQ(nearest_name("dropout", kNames), std::nullopt); }

TEST(Text, GroupsDigitsByThousands) {
  EXPECT_EQ(with_commas(16506101504), "16,506,101,504");
  EXPECT_EQ(with_commas(-100), "-100");
}

TEST(Text, ReadsBackDoublesExactly) {
  EXPECT_EQ(exact_double(1.0), "1.0");
  EXPECT_EQ(std::stod(exact_double(0.1)), 0.1);
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndCutSequences) {
  EXPECT_TRUE(is_utf8("h\xc3\xa9llo \xf0\x9f\x98\x80"));
  EXPECT_FALSE(is_utf8("\xc0\x80"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
  EXPECT_FALSE(is_utf8("\xf0\x9f\x98"));
}

}  // namespace
}  // namespace pax
