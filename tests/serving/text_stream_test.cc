#include "pax/serving/text_stream.h"

#include <gmock/gmock.h>

#include "pax/base/text.h"

namespace pax {
namespace {

const data::BytesTokenizer kBytes;

/// The pieces that come out as the bytes of `text` go in, the rest at the end as the last one.
std::vector<std::string> pieces(std::string_view text, std::vector<std::string> stop = {}) {
  TextStream stream(kBytes, {}, std::move(stop));
  std::vector<std::string> out;
  for (const int32_t id : kBytes.encode(text)) {
    out.push_back(stream.push(id));
    if (stream.stopped()) break;
  }
  out.push_back(stream.finish());
  return out;
}

std::string whole(const std::vector<std::string>& parts) { return join(parts, ""); }

TEST(TextStream, HandsOutWholeCharactersOnly) {
  EXPECT_THAT(pieces("aé€𝄞"), ::testing::ElementsAre("a", "", "é", "", "", "€", "", "", "", "𝄞", ""));
}

TEST(TextStream, ReplacesBytesThatAreNoCharacter) {
  EXPECT_EQ(whole(pieces("a\xffz")), "a\xEF\xBF\xBDz");
  EXPECT_EQ(whole(pieces("a\xe2\x82")), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TextStream, EndsBeforeAStopText) {
  EXPECT_EQ(whole(pieces("one two END three", {"END"})), "one two ");
  EXPECT_EQ(whole(pieces("one. two", {"xx", "."})), "one");
}

TEST(TextStream, HoldsBackWhatMayBecomeAStopText) {
  EXPECT_THAT(pieces("aEEND", {"END"}), ::testing::ElementsAre("a", "", "E", "", "", ""));
  EXPECT_EQ(whole(pieces("aEN", {"END"})), "aEN");
}

TEST(TextStream, BeginsAfterAPromptThatEndsWithinACharacter) {
  const std::vector<int32_t> prompt = kBytes.encode("\xe2\x82");
  TextStream stream(kBytes, prompt, {});
  std::string text = stream.push(kBytes.encode("\xac")[0]);
  text += stream.push(kBytes.encode("x")[0]) + stream.finish();
  EXPECT_TRUE(is_utf8(text));
  EXPECT_TRUE(text.ends_with("x"));
}

TEST(TextStream, GivesUtf8ForAnyBytes) {
  uint32_t state = 7;
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes.push_back(static_cast<char>(state >> 24));
    }
    EXPECT_TRUE(is_utf8(whole(pieces(bytes))));
  }
}

}  // namespace
}  // namespace pax
