#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "pax/base/error.h"
#include "pax/data/bpe_merges.h"
#include "pax/data/hf_tokenizer.h"
#include "pax/data/pretokenizer.h"
#include "pax/data/sentencepiece_tokenizer.h"
#include "pax/data/split_regex.h"
#include "pax/data/token_stream.h"
#include "pax/data/unicode.h"
#include "tests/data/input_testing.h"

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::string kGolden = PAX_SOURCE_DIR "/tests/golden/tokenizer/";

std::vector<std::string> words_of(const Pretokenizer& pretokenizer, std::string_view text) {
  std::vector<std::string_view> words;
  pretokenizer.split(text, words);
  return {words.begin(), words.end()};
}

/// A text of characters that the patterns tell apart.
std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces{
      "a",        "B", "s",  "t",    "re", "'",  "'s", "'LL", " ",  "  ", "\n", "\r",       "\r\n",
      "\t",       "7", "42", "1234", ".",  "!?", "é",  "ſ",   "中", "Ⅷ",  "²",  "\xC2\xA0", "\xE2\x80\xA8",
      "\xCC\x81", "🚢", "_",  "x",    "dD", "M",  "/"};
  std::string text;
  for (int i = static_cast<int>(random() % 12); i >= 0; --i) text += kPieces[random() % kPieces.size()];
  return text;
}

TEST(Pretokenizer, Gpt2WordsKeepTheSpaceBefore) {
  EXPECT_THAT(words_of(*make_split_pretokenizer(kGpt2Pattern), "I'm here,  we've  2024\n\nx "),
              ElementsAre("I", "'m", " here", ",", " ", " we", "'ve", " ", " 2024", "\n", "\n", "x", " "));
}

TEST(Pretokenizer, Llama3TakesThreeDigitsAndAnySignBeforeAWord) {
  EXPECT_THAT(words_of(*make_split_pretokenizer(kLlama3Pattern), "I'M (here) 12345!\n\n  y"),
              ElementsAre("I", "'M", " (", "here", ")", " ", "123", "45", "!\n\n", " ", " y"));
}

TEST(Pretokenizer, HandWrittenScannersEqualTheRegularExpressions) {
  std::mt19937 random(1);
  for (const std::string_view pattern : {kGpt2Pattern, kLlama3Pattern}) {
    const auto scanner = make_split_pretokenizer(pattern);
    const auto regex = make_regex_pretokenizer(pattern);
    for (int i = 0; i < 20000; ++i) {
      const std::string text = random_text(random);
      ASSERT_EQ(words_of(*scanner, text), words_of(*regex, text)) << text;
    }
  }
}

TEST(Pretokenizer, UnderstandsOtherPublishedPatterns) {
  const auto qwen = make_split_pretokenizer(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)");
  EXPECT_THAT(words_of(*qwen, "ab 123"), ElementsAre("ab", " ", "1", "2", "3"));
  const auto o200k = make_split_pretokenizer(
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)");
  EXPECT_THAT(words_of(*o200k, "HelloWorld's 1234"), ElementsAre("Hello", "World's", " ", "123", "4"));
}

TEST(SplitRegex, GreedyLazyAndPossessive) {
  const auto match = [](std::string_view pattern, std::string_view text) {
    const auto [begin, end] = SplitRegex(pattern).find(text, 0);
    return begin == std::string_view::npos ? std::string("none") : std::string(text.substr(begin, end - begin));
  };
  EXPECT_EQ(match("a+b", "xaaab"), "aaab");
  EXPECT_EQ(match("a+a", "aaa"), "aaa");
  EXPECT_EQ(match("a++a", "aaa"), "none");
  EXPECT_EQ(match("a+?", "aaa"), "a");
  EXPECT_EQ(match("(?:ab)+", "ababa"), "abab");
  EXPECT_EQ(match("(?:ab){2,3}c", "abababc"), "abababc");
  EXPECT_EQ(match("a(?=b)", "acab"), "a");
  EXPECT_EQ(match("[a-cx]+", "zabxd"), "abx");
  EXPECT_EQ(match(R"(\d{2})", "1a23"), "23");
}

TEST(SplitRegex, RefusesWhatItDoesNotUnderstandAndNamesTheColumn) {
  for (const char* pattern : {"(", "a)", "[a", "\\p{Greek}", "(?<=a)b", "a{3,1}", "*a", "\\"}) {
    EXPECT_THAT([&] { SplitRegex regex(pattern); }, ThrowsMessage<ConfigError>(HasSubstr("column"))) << pattern;
  }
}

TEST(SplitRegex, CatastrophicPatternsEndWithAnError) {
  const SplitRegex regex("(?:(?:a*)*)*b");
  EXPECT_THROW(regex.find(std::string(5000, 'a'), 0), RuntimeError);
}

TEST(Unicode, ClassesOfWellKnownCharacters) {
  EXPECT_EQ(unicode_class('A'), UnicodeClass::kLu);
  EXPECT_EQ(unicode_class(0xE9), UnicodeClass::kLl);
  EXPECT_EQ(unicode_class(0x4E2D), UnicodeClass::kLo);
  EXPECT_EQ(unicode_class(0x2167), UnicodeClass::kNl);
  EXPECT_EQ(unicode_class(0x1F6A2), UnicodeClass::kS);
  EXPECT_EQ(unicode_class(0x10FFFF), UnicodeClass::kC);
}

TEST(Unicode, EachMaximalBrokenSequenceBecomesOneReplacement) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(repair_utf8("a\xFFz"), "a" + r + "z");
  EXPECT_EQ(repair_utf8("\xF0\x9F\x9A"), r);
  EXPECT_EQ(repair_utf8("\xE0\x80\x80"), r + r + r);
  EXPECT_EQ(repair_utf8("\xED\xA0\x80"), r + r + r);
  EXPECT_EQ(repair_utf8("\xC3\xA9"), "\xC3\xA9");
}

TEST(BpeMerges, LongWordsGiveTheIdsOfShortOnes) {
  const BpeMerges merges({{'a', 'b', 300}, {300, 300, 301}, {'b', 'a', 302}, {'a', 'a', 303}, {301, 'a', 304}});
  // Merging is local here, so words that differ beyond 64 bytes can be checked piece by piece against a plain loop.
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::string word;
    for (int i = 0; i < 100; ++i) word.push_back(random() % 2 == 0 ? 'a' : 'b');
    std::vector<int32_t> fast(word.begin(), word.end());
    merges.merge_last(word.size(), fast);
    std::vector<int32_t> slow(word.begin(), word.end());
    const std::vector<std::array<int32_t, 3>> rules{
        {'a', 'b', 300}, {300, 300, 301}, {'b', 'a', 302}, {'a', 'a', 303}, {301, 'a', 304}};
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [left, right, merged] : rules) {
        for (size_t i = 0; i + 1 < slow.size() && !changed; ++i) {
          if (slow[i] != left || slow[i + 1] != right) continue;
          slow[i] = merged;
          slow.erase(slow.begin() + static_cast<int64_t>(i) + 1);
          changed = true;
        }
        if (changed) break;
      }
    }
    ASSERT_EQ(fast, slow) << word;
  }
}

HfTokenizer bpe(const std::string& path) {
  HfTokenizer::Config config;
  config.path = path;
  return HfTokenizer(config);
}

TEST(HfTokenizer, VocabAndMergesFilesGiveTheIdsOfTokenizerJson) {
  const HfTokenizer json = bpe(kGolden + "bytelevel_bpe/tokenizer.json");
  const HfTokenizer files = bpe(kGolden + "bytelevel_bpe/vocab.json");
  const std::string text = read_file(kGolden + "corpus.txt") + "<|endoftext|>end";
  EXPECT_EQ(json.encode(text), files.encode(text));
  EXPECT_EQ(json.special_ids().eos, 0);
}

TEST(HfTokenizer, AnyTextComesBack) {
  const HfTokenizer tokenizer = bpe(kGolden + "bytelevel_bpe");
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(HfTokenizer, AMegabyteWithoutASpaceTakesNoTime) {
  const HfTokenizer tokenizer = bpe(kGolden + "bytelevel_bpe");
  const std::string text(1 << 20, 'e');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(HfTokenizer, UnknownIdsDecodeSafely) {
  const HfTokenizer tokenizer = bpe(kGolden + "bytelevel_bpe");
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{-5, 65, 100000}),
            "\xEF\xBF\xBD"
            "a"
            "\xEF\xBF\xBD");
}

TEST(HfTokenizer, NamesTheFileAndWhatIsNotSupported) {
  const TempDirectory folder;
  const auto expect_error = [&](const std::string& json, const std::string& part) {
    const std::string path = put(folder, "tokenizer.json", json);
    EXPECT_THAT([&] { bpe(path); }, ThrowsMessage<RuntimeError>(AllOf(HasSubstr("tokenizer.json"), HasSubstr(part))));
  };
  expect_error("[]", "JSON object");
  expect_error("{\"model\":{\"type\":\"Hieroglyphs\"}}", "Hieroglyphs");
  expect_error("{\"model\":{\"type\":\"Unigram\"}}", "vocab");
  expect_error("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", "entry 0");
  expect_error("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":-1},\"merges\":[]}}", "\"a\"");
  expect_error("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}", "merge 0");
  const std::string model = "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]},";
  expect_error(model + "\"normalizer\":{\"type\":\"Upside\"}}", "normalizer Upside");
  expect_error(model + "\"pre_tokenizer\":{\"type\":\"Down\"}}", "pre-tokenizer Down");
  expect_error(model + "\"decoder\":{\"type\":\"Back\"}}", "decoder Back");
}

SentencePieceTokenizer spm(const std::string& path) {
  SentencePieceTokenizer::Config config;
  config.path = path;
  return SentencePieceTokenizer(config);
}

TEST(SentencePiece, IdentityRuleKeepsEverySpaceTabAndLineEnd) {
  const SentencePieceTokenizer tokenizer = spm(kGolden + "spm_bpe.model");
  for (const std::string text : {"  a  b ", "x\n\ty", " ", "a"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(SentencePiece, UnknownIdsDecodeAsTheUnknownToken) {
  const SentencePieceTokenizer tokenizer = spm(kGolden + "spm_unigram.model");
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{100000}), tokenizer.decode(std::vector<int32_t>{2}));
}

TEST(SentencePiece, NamesAFileThatIsNoModel) {
  const TempDirectory folder;
  EXPECT_THAT([&] { spm(put(folder, "x.model", "not a model")); }, ThrowsMessage<RuntimeError>(HasSubstr("x.model")));
  EXPECT_THAT([&] { spm("/none.model"); }, ThrowsMessage<RuntimeError>(HasSubstr("/none.model")));
}

TEST(TokenCache, HitsForTheSameTokenizerAndNeverForAnother) {
  const TempDirectory folder;
  const std::string text = put(folder, "a.txt", "The cat sleeps.\nThe cat eats.\n");
  const TextOptions options{.cache_dir = (folder.path() / "cache").string()};
  const auto ids_with = [&](const Tokenizer& tokenizer) {
    const auto stream = open_text(text, tokenizer, options);
    std::vector<int32_t> ids(static_cast<size_t>(stream->size()));
    stream->copy(0, ids);
    return ids;
  };
  const SentencePieceTokenizer a = spm(kGolden + "spm_bpe.model");
  const SentencePieceTokenizer b = spm(kGolden + "spm_unigram.model");
  const std::vector<int32_t> first = ids_with(a);
  EXPECT_EQ(ids_with(a), first);
  EXPECT_NE(ids_with(b), first);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(options.cache_dir), {}), 2);
}

}  // namespace
}  // namespace pax::data
