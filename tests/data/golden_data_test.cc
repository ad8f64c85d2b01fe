#include <gtest/gtest.h>

#include "tests/golden/input_cases.h"
#include "tests/golden/tokenizer_cases.h"

namespace pax::data {
namespace {

TEST(Golden, EveryInputFileReadsAsListed) {
  const auto results = check_golden_input(PAX_SOURCE_DIR "/tests/golden/input");
  EXPECT_GE(results.size(), 13U);
  for (const GoldenResult& result : results) EXPECT_TRUE(result.ok) << result.name << ": " << result.message;
}

TEST(Golden, EveryTokenizerGivesTheListedIdsAndTexts) {
  for (const char* name : {"bytelevel_bpe", "spm_bpe", "spm_unigram"}) {
    const std::filesystem::path file =
        std::filesystem::path(PAX_SOURCE_DIR) / "tests/golden/tokenizer" / (std::string(name) + ".expected.json");
    for (const GoldenResult& result : check_golden_tokenizer(file)) {
      EXPECT_TRUE(result.ok) << result.name << ": " << result.message;
    }
  }
}

/// Compares every tokenizer of a folder; the number of tokenizers.
int check_tokenizers(const std::filesystem::path& folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(".expected.json")) continue;
    ++files;
    for (const GoldenResult& result : check_golden_tokenizer(entry.path())) {
      EXPECT_TRUE(result.ok) << result.name << ": " << result.message;
    }
  }
  return files;
}

TEST(Golden, EveryTokenizerJsonGivesWhatTheRealLibraryGave) {
  EXPECT_GE(check_tokenizers(PAX_SOURCE_DIR "/tests/golden/tokenizer_hf"), 20);
}

TEST(Golden, EverySentencePieceModelGivesWhatTheRealLibraryGave) {
  EXPECT_EQ(check_tokenizers(PAX_SOURCE_DIR "/tests/golden/tokenizer_spm"), 2);
}

}  // namespace
}  // namespace pax::data
