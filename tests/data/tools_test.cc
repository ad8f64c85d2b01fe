#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pax/base/error.h"
#include "pax/data/inspect.h"
#include "pax/data/open_tokenizer.h"
#include "pax/data/record_file.h"
#include "pax/data/record_writer.h"
#include "pax/data/tokenize_source.h"
#include "tests/data/input_testing.h"

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

const std::string kGolden = PAX_SOURCE_DIR "/tests/golden/";

std::vector<std::string> records_of(const RecordFile& file) {
  std::vector<std::string> records;
  std::string scratch;
  for (int64_t i = 0; i < file.size(); ++i) records.emplace_back(file.at(i, scratch));
  return records;
}

/// Records of all sizes around the 64 KiB blocks of ArrayRecord.
std::vector<std::string> many_records() {
  std::vector<std::string> records{"", "a", std::string(65'460, 'b'), std::string(1, '\0'), std::string(200'000, 'c')};
  for (size_t i = 0; i < 3000; ++i) records.push_back(std::string(i % 97, static_cast<char>('a' + i % 26)));
  return records;
}

TEST(RecordWriter, ArrayRecordReadsBack) {
  const TempDirectory folder;
  for (const int64_t group : {1, 7, 100'000}) {
    const auto path = folder.path() / "x.array_record";
    const auto writer = write_array_record(path, group);
    for (const std::string& record : many_records()) writer->add(record);
    writer->close();
    EXPECT_EQ(records_of(*open_array_record(path)), many_records()) << group;
  }
}

TEST(RecordWriter, AnEmptyArrayRecordHasNoRecords) {
  const TempDirectory folder;
  write_array_record(folder.path() / "x.array_record")->close();
  EXPECT_EQ(open_array_record(folder.path() / "x.array_record")->size(), 0);
}

TEST(RecordWriter, TfRecordReadsBack) {
  const TempDirectory folder;
  const auto writer = write_tfrecord(folder.path() / "x.tfrecord");
  for (const std::string& record : many_records()) writer->add(record);
  writer->close();
  EXPECT_EQ(records_of(*open_tfrecord(folder.path() / "x.tfrecord")), many_records());
}

TEST(RecordWriter, WhatIsNotClosedLeavesNoFile) {
  const TempDirectory folder;
  write_tfrecord(folder.path() / "x.tfrecord")->add("a");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

FileSource source_of(const std::string& pattern) {
  FileSource::Config config;
  config.file_pattern = pattern;
  return FileSource(config);
}

TokenizeProgress tokenize(const std::string& pattern, const Tokenizer& tokenizer, const std::filesystem::path& out,
                          const TokenizeOptions& options) {
  return tokenize_source(source_of(pattern), tokenizer, out, options, [](const TokenizeProgress&) {});
}

TEST(TokenizeSource, WritesEveryDocumentInOrderWhateverTheThreads) {
  const TempDirectory folder;
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += fmt::format("{{\"text\":\"document {}\"}}\n", i);
  const std::string input = put(folder, "a.jsonl", lines);
  const BytesTokenizer bytes;
  for (const int threads : {1, 4}) {
    const auto out = folder.path() / fmt::format("{}.bin", threads);
    tokenize(input, bytes, out, {.add_bos = true, .add_eos = true, .num_threads = threads});
  }
  const std::string one = read_file(folder.path() / "1.bin");
  EXPECT_EQ(one, read_file(folder.path() / "4.bin"));
  const auto stream = open_token_file(folder.path() / "1.bin", IdWidth::kU16);
  std::vector<int32_t> ids(12);
  stream->copy(0, ids);
  EXPECT_EQ(ids.front(), BytesTokenizer::kBos);
  EXPECT_EQ(ids.back(), BytesTokenizer::kEos);
  EXPECT_EQ(bytes.decode(ids), "document 0");
}

TEST(TokenizeSource, RecordsHoldTheIdsOfTheirText) {
  const TempDirectory folder;
  const auto tokenizer = open_tokenizer(kGolden + "tokenizer/bytelevel_bpe");
  for (const char* name : {"x.tfrecord", "x.array_record"}) {
    const TokenizeProgress done =
        tokenize(kGolden + "input/docs.jsonl", *tokenizer, folder.path() / name, {.num_threads = 2});
    EXPECT_EQ(done.records, 64);
    const FileSource texts = source_of(kGolden + "input/docs.jsonl");
    const FileSource made = source_of((folder.path() / name).string());
    ASSERT_EQ(made.size(), 64);
    for (int64_t i = 0; i < 64; ++i) {
      const std::vector<int32_t> ids = tokenizer->encode(texts.at(i).text("text"));
      EXPECT_EQ(made.at(i).ints("targets"), Ints(ids.begin(), ids.end())) << name << " " << i;
    }
  }
}

TEST(TokenizeSource, NamesFileRecordAndFieldAndLeavesNoFile) {
  const TempDirectory folder;
  const std::string input = put(folder, "a.jsonl", "{\"text\":\"a\"}\n{\"body\":\"b\"}\n");
  EXPECT_THAT([&] { tokenize(input, BytesTokenizer(), folder.path() / "x.bin", {}); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("a.jsonl"), HasSubstr("record 1"), HasSubstr("body"))));
  EXPECT_THAT([&] { tokenize(kGolden + "input/docs_badcrc.tfrecord", BytesTokenizer(), folder.path() / "x.bin", {}); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("docs_badcrc"), HasSubstr("offset"))));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "x.bin"));
}

TEST(OpenTokenizer, NamesWhatItLookedFor) {
  EXPECT_EQ(open_tokenizer("bytes")->vocab_size(), 259);
  EXPECT_THAT([] { open_tokenizer("/none"); }, ThrowsMessage<RuntimeError>(HasSubstr("no such file")));
  const TempDirectory folder;
  EXPECT_THAT([&] { open_tokenizer(folder.path().string()); },
              ThrowsMessage<RuntimeError>(HasSubstr("tokenizer.json")));
}

/// Two documents in one row: "ab" without weight on its first token, "<c>" and padding.
HostTree packed_batch() {
  LmBatch batch(1, 8);
  const BytesTokenizer bytes;
  batch.append(0, bytes.encode("ab"), bytes.encode("ab"), std::vector<float>{0, 1});
  batch.append(0, bytes.encode("<c>"), bytes.encode("<c>"), std::vector<float>{1, 1, 1});
  return batch.take();
}

TEST(ShowBatch, TellsSegmentsWeightAndPadding) {
  const BytesTokenizer bytes;
  const std::string plain = show_batch(packed_batch(), &bytes, Style::kPlain);
  EXPECT_THAT(plain, HasSubstr("(a)b | <c> [3 padding]"));
  EXPECT_THAT(plain, HasSubstr("5 tokens in 8 slots (62.5 % real), weight 4, 2 segments"));
  EXPECT_THAT(show_batch(packed_batch(), nullptr, Style::kPlain), HasSubstr("(100)101 | 63 102 65"));
  EXPECT_THAT(show_batch(packed_batch(), &bytes, Style::kColour), HasSubstr("\x1b[2;36ma\x1b[0m"));
}

TEST(ShowBatch, TokensWithARoleAreShownByName) {
  LmBatch batch(1, 4);
  const std::vector<int32_t> ids{BytesTokenizer::kBos, 'a' + BytesTokenizer::kOffset, BytesTokenizer::kEos};
  batch.append(0, ids, ids, std::vector<float>{1, 1, 1});
  const BytesTokenizer bytes;
  EXPECT_THAT(show_batch(batch.take(), &bytes, Style::kPlain), HasSubstr("<bos>a<eos> [1 padding]"));
}

TEST(ShowBatch, PageEscapesTextAndNeedsNoOtherFile) {
  const BytesTokenizer bytes;
  const std::string page = html_page("a & b", show_batch(packed_batch(), &bytes, Style::kHtml));
  EXPECT_THAT(page, HasSubstr("<title>a &amp; b</title>"));
  EXPECT_THAT(page, HasSubstr("title=\"&lt; id 63, place 2, segment 2, weight 1\">&lt;</span>"));
  EXPECT_THAT(page, HasSubstr("class=\"s0 none\""));
  EXPECT_THAT(page, HasSubstr("3 padding"));
  EXPECT_THAT(page, Not(AllOf(HasSubstr("src="), HasSubstr("href="))));
}

TEST(ShowBatch, BranchesOfASequenceModelAreShownOneAfterTheOther) {
  const HostTree lm = packed_batch();
  HostTree batch{{"src/ids", lm.at("ids")}, {"src/paddings", lm.at("paddings")}, {"tgt/labels", lm.at("labels")}};
  const BytesTokenizer bytes;
  const std::string plain = show_batch(batch, &bytes, Style::kPlain);
  EXPECT_THAT(plain, AllOf(HasSubstr("src/"), HasSubstr("tgt/"), HasSubstr("ab<c>")));
}

}  // namespace
}  // namespace pax::data
