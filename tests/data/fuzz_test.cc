#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>
#include <random>

#include "pax/base/error.h"
#include "pax/data/data_source.h"
#include "pax/data/example.h"
#include "pax/data/hf_tokenizer.h"
#include "pax/data/row_stream.h"
#include "pax/data/sentencepiece_tokenizer.h"
#include "pax/data/split_regex.h"
#include "pax/data/unicode.h"
#include "tests/data/input_testing.h"

// Damaged files of every format, made from good ones by a seeded generator: a reader gives records or throws
// pax::Error. The seed is the same each time; with --gtest_shuffle --gtest_repeat=N (the long form, label fuzz) every
// repetition has its own.

namespace pax::data {
namespace {

const std::string kGolden = PAX_SOURCE_DIR "/tests/golden/";

/// `bytes` with a few changes: bits flipped, bytes replaced, pieces cut out, doubled or cut off.
std::string damage(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(2) == 0 ? 0xFF : random());
        break;
      case 2:
        bytes.erase(at, 1 + below(16));
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(64)));
        break;
      case 4:
        bytes.resize(at);
        break;
      default:
        for (size_t i = at; i < std::min(bytes.size(), at + 8); ++i) bytes[i] = static_cast<char>(0xFF);
    }
  }
  return bytes;
}

/// Calls `read` on `rounds` damaged forms of `good`; anything but success and pax::Error fails the test.
void fuzz(const std::string& good, int rounds, const std::function<void(const std::string&)>& read) {
  std::mt19937 random(20240607U + static_cast<uint32_t>(::testing::UnitTest::GetInstance()->random_seed()));
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string bytes = damage(good, random);
    try {
      read(bytes);
    } catch (const Error&) {
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "round " << round << ": " << error.what();
      return;
    }
  }
  ::testing::Test::RecordProperty("refused", refused);
}

void fuzz_file(const std::string& name, RecordFormat format, int rounds) {
  const TempDirectory folder;
  const std::filesystem::path path = folder.path() / name;
  fuzz(read_file(kGolden + "input/" + name), rounds, [&](const std::string& bytes) {
    write_file_atomically(path, bytes);
    const std::unique_ptr<ExampleFile> file = open_examples(path, format);
    for (int64_t i = 0; i < std::min<int64_t>(file->size(), 100); ++i) {
      try {
        file->at(i);
      } catch (const Error&) {
        continue;  // one record's damage is not the others'
      }
    }
  });
}

#ifndef __SANITIZE_ADDRESS__
/// A reader that asks for more than this gets std::bad_alloc, which fails its test.
const bool kMemoryIsBounded = [] {
  const rlimit limit{.rlim_cur = rlim_t{6} << 30, .rlim_max = RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}();

TEST(Fuzz, MemoryIsBounded) { EXPECT_TRUE(kMemoryIsBounded); }
#endif

TEST(Fuzz, TfRecord) { fuzz_file("docs.tfrecord", RecordFormat::kTfRecord, 300); }
TEST(Fuzz, GzippedTfRecord) { fuzz_file("docs.tfrecord.gz", RecordFormat::kTfRecord, 300); }
TEST(Fuzz, ArrayRecord) { fuzz_file("docs.array_record", RecordFormat::kArrayRecord, 100); }
TEST(Fuzz, GroupedArrayRecord) { fuzz_file("docs_group7.array_record", RecordFormat::kArrayRecord, 100); }
TEST(Fuzz, JsonLines) { fuzz_file("docs.jsonl", RecordFormat::kJsonl, 300); }
TEST(Fuzz, GzippedJsonLines) { fuzz_file("docs.jsonl.gz", RecordFormat::kJsonl, 300); }
TEST(Fuzz, Parquet) { fuzz_file("docs.parquet", RecordFormat::kParquet, 200); }
TEST(Fuzz, PlainParquet) { fuzz_file("docs_plain.parquet", RecordFormat::kParquet, 200); }
TEST(Fuzz, NewerParquet) { fuzz_file("docs_v2_zstd.parquet", RecordFormat::kParquet, 200); }

TEST(Fuzz, TfExample) {
  Example example;
  example.set("ids", Ints{1, -1, 1 << 20});
  example.set("scores", Floats{1, 2});
  example.set("text", Strings{"a", "bc"});
  fuzz(serialize_tf_example(example), 20000, [](const std::string& bytes) { parse_tf_example(bytes); });
}

TEST(Fuzz, JsonRecord) {
  fuzz(R"({"a":[1,2.5,-3e2],"b":"x\u00e9\n","c":{"d":[null,{"e":true}]},"f":""})", 20000,
       [](const std::string& bytes) { parse_json_record(bytes); });
}

void fuzz_tokenizer(const std::string& file, int rounds) {
  const TempDirectory folder;
  const std::filesystem::path path = folder.path() / "tokenizer.json";
  fuzz(read_file(kGolden + file), rounds, [&](const std::string& bytes) {
    write_file_atomically(path, bytes);
    HfTokenizer::Config config;
    config.path = path.string();
    const HfTokenizer tokenizer(config);
    tokenizer.decode(tokenizer.encode("The cat, 2024!\n<|endoftext|> \xC3\xA9t\xC3\xA9 \xF0\x9F\x91\x8D"));
  });
}

TEST(Fuzz, ByteLevelTokenizerJson) { fuzz_tokenizer("tokenizer/bytelevel_bpe/tokenizer.json", 100); }
TEST(Fuzz, AddedTokensTokenizerJson) { fuzz_tokenizer("tokenizer_hf/added_tokens.json", 100); }
TEST(Fuzz, ByteFallbackTokenizerJson) { fuzz_tokenizer("tokenizer_hf/llama2.json", 100); }
TEST(Fuzz, WordPieceTokenizerJson) { fuzz_tokenizer("tokenizer_hf/bert_uncased.json", 200); }
TEST(Fuzz, UnigramTokenizerJson) { fuzz_tokenizer("tokenizer_hf/unigram_bytes.json", 100); }

/// Numbers and names exchanged in the parts that are not the vocabulary: what damage to bytes seldom reaches.
TEST(Fuzz, TokenizerJsonParts) {
  for (const char* file : {"bert_uncased", "llama2", "behaviors", "added_tokens", "word_level"}) {
    std::string text = read_file(kGolden + "tokenizer_hf/" + file + ".json");
    const size_t model = text.find("\"model\":");
    const std::string tail = text.substr(model);
    const TempDirectory folder;
    const std::filesystem::path path = folder.path() / "tokenizer.json";
    fuzz(text.substr(0, model), 200, [&](const std::string& head) {
      write_file_atomically(path, head + tail);
      HfTokenizer::Config config;
      config.path = path.string();
      const HfTokenizer tokenizer(config);
      tokenizer.decode(tokenizer.encode("The cat, 2024!\n<|end|>  foo bar"));
    });
  }
}

TEST(Fuzz, SentencePieceModel) {
  const TempDirectory folder;
  const std::filesystem::path path = folder.path() / "spm.model";
  fuzz(read_file(kGolden + "tokenizer/spm_bpe.model"), 300, [&](const std::string& bytes) {
    write_file_atomically(path, bytes);
    SentencePieceTokenizer::Config config;
    config.path = path.string();
    const SentencePieceTokenizer tokenizer(config);
    tokenizer.decode(tokenizer.encode("The cat, 2024!"));
  });
}

TEST(Fuzz, SplitPattern) {
  fuzz(R"((?i:'s|'t)|[^\r\n\p{L}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}]+[\r\n]*|\s+(?!\S)|(?:a|b)*c)", 5000,
       [](const std::string& bytes) {
         const SplitRegex regex(bytes);
         for (size_t at = 0; at != std::string_view::npos;) at = regex.find("it's 12 abab c\n\n x", at).second;
       });
}

TEST(Fuzz, AnyBytesTokenizeAndComeBackRepaired) {
  HfTokenizer::Config config;
  config.path = kGolden + "tokenizer/bytelevel_bpe";
  const HfTokenizer tokenizer(config);
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (size_t k = random() % 40; k > 0; --k)
      text.push_back(static_cast<char>(random() % 2 == 0 ? random() : 0x80 | random() % 80));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), repair_utf8(text));
  }
}

}  // namespace
}  // namespace pax::data
