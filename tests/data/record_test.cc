#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/data/compression.h"
#include "pax/data/data_source.h"
#include "pax/data/file_pattern.h"
#include "pax/data/highway_hash.h"
#include "tests/data/input_testing.h"

namespace pax::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string gzip(std::string_view text) {
  std::string out(text.size() + 1024, '\0');
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uint32_t>(text.size());
  stream.next_out = reinterpret_cast<uint8_t*>(out.data());
  stream.avail_out = static_cast<uint32_t>(out.size());
  isal_deflate_stateless(&stream);
  out.resize(stream.total_out);
  return out;
}

std::string golden(const std::string& name) { return read_file(PAX_SOURCE_DIR "/tests/golden/input/" + name); }

std::vector<std::string> records_of(const RecordFile& file) {
  std::vector<std::string> records;
  std::string scratch;
  for (int64_t i = 0; i < file.size(); ++i) records.emplace_back(file.at(i, scratch));
  return records;
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(std::as_bytes(std::span(std::string_view("123456789")))), 0xE3069283U);
  EXPECT_EQ(masked_crc32c("123456789"), 3347755237U);
}

TEST(HighwayHash, OfNothingIsWhatRiegeliFilesBeginWith) {
  EXPECT_EQ(highway_hash64("", {0x2f696c6567656952, 0x0a7364726f636572, 0x2f696c6567656952, 0x0a7364726f636572}),
            0x72c3b1e9c0139fe1ULL);
}

TEST(LineFile, LinesEndAtLineFeedOnlyAndTheLastNeedsNone) {
  const TempDirectory folder;
  const auto file = open_line_file(put(folder, "a.txt", "one\r\n\n\xE2\x80\xA8two\xC2\x85\nlast"), LineRule::kEvery);
  EXPECT_THAT(records_of(*file), ElementsAre("one", "", "\xE2\x80\xA8two\xC2\x85", "last"));
}

TEST(LineFile, BlankLinesHoldNoJson) {
  const TempDirectory folder;
  const auto file = open_line_file(put(folder, "a.jsonl", "{}\n  \r\n\n{\"a\":1}\n"), LineRule::kNotBlank);
  EXPECT_THAT(records_of(*file), ElementsAre("{}", "{\"a\":1}"));
}

TEST(LineFile, GzipAndZstdAlsoInSeveralMembersReadAsPlain) {
  const TempDirectory folder;
  const auto zipped = open_line_file(put(folder, "a.gz", gzip("one\ntw") + gzip("o\nthree\n")), LineRule::kEvery);
  EXPECT_THAT(records_of(*zipped), ElementsAre("one", "two", "three"));
  const auto zstded = open_line_file(put(folder, "a.zst", zstd("one\ntw") + zstd("o\n")), LineRule::kEvery);
  EXPECT_THAT(records_of(*zstded), ElementsAre("one", "two"));
}

TEST(LineFile, CutGzipGivesItsLinesAndThenTheErrorWithTheRecord) {
  const TempDirectory folder;
  std::string text;
  for (int i = 0; i < 50000; ++i) text += fmt::format("line {}\n", i * 7919 % 100003);
  const std::string whole = gzip(text);
  const auto file = open_line_file(put(folder, "a.gz", whole.substr(0, whole.size() - 20)), LineRule::kEvery);
  std::string scratch;
  EXPECT_EQ(file->at(0, scratch), "line 0");
  EXPECT_THAT([&] { file->at(file->size() - 1, scratch); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("a.gz"), HasSubstr("record "), HasSubstr("gzip"))));
  EXPECT_THROW(file->require_whole(), RuntimeError);
}

TEST(TfRecord, EmptyFileHasNoRecords) {
  const TempDirectory folder;
  EXPECT_EQ(open_tfrecord(put(folder, "a.tfrecord", ""))->size(), 0);
}

TEST(TfRecord, AnotherKindOfFileIsAnErrorAtRecordZero) {
  const TempDirectory folder;
  const auto file = open_tfrecord(put(folder, "a.tfrecord", "this is just a text file, no records"));
  EXPECT_THAT([&] { file->require_whole(); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("record 0"), HasSubstr("not a TFRecord file"))));
}

TEST(TfRecord, DamageIsNamedWithRecordAndOffset) {
  const TempDirectory folder;
  const auto file = open_tfrecord(put(folder, "b.tfrecord", golden("docs_badcrc.tfrecord")));
  std::string scratch;
  EXPECT_NO_THROW(file->at(11, scratch));
  EXPECT_THAT([&] { file->at(10, scratch); },
              ThrowsMessage<RuntimeError>(
                  AllOf(HasSubstr("b.tfrecord"), HasSubstr("record 10"), HasSubstr("offset "), HasSubstr("CRC"))));
}

TEST(ArrayRecord, DamageInAChunkIsNamedAndOtherChunksStillRead) {
  const TempDirectory folder;
  std::string bytes = golden("docs.array_record");
  bytes[0x130] = static_cast<char>(bytes[0x130] ^ 1);
  const auto file = open_array_record(put(folder, "c.array_record", bytes));
  std::string scratch;
  EXPECT_NO_THROW(file->at(0, scratch));
  EXPECT_NO_THROW(file->at(2, scratch));
  EXPECT_THAT([&] { file->at(1, scratch); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("record 1"), HasSubstr("offset 252"), HasSubstr("hash"))));
}

TEST(ArrayRecord, AFileCutShortIsRefusedWhenOpened) {
  const TempDirectory folder;
  const std::string bytes = golden("docs.array_record");
  EXPECT_THAT([&] { open_array_record(put(folder, "c.array_record", bytes.substr(0, 100000))); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("c.array_record"), HasSubstr("not a whole ArrayRecord"))));
}

TEST(Parquet, DamagedFilesAreRefused) {
  const TempDirectory folder;
  const std::string bytes = golden("docs.parquet");
  EXPECT_THAT([&] { open_parquet(put(folder, "d.parquet", bytes.substr(0, 5000))); },
              ThrowsMessage<RuntimeError>(HasSubstr("d.parquet")));
}

TEST(Compression, RefusesABlockThatExpandsToAnotherSize) {
  EXPECT_THROW(expand_exactly(Compression::kZstd, zstd("abc"), 2), RuntimeError);
  EXPECT_THROW(expand_exactly(Compression::kZstd, zstd("abc"), 4), RuntimeError);
  EXPECT_EQ(expand_exactly(Compression::kZstd, zstd("abc"), 3), "abc");
}

TEST(Compression, SnappyLiteralsAndOverlappingCopies) {
  EXPECT_EQ(expand_exactly(Compression::kSnappy,
                           std::string("\x09\x08"
                                       "abc"
                                       "\x09\x03",
                                       7),
                           9),
            "abcabcabc");
  EXPECT_THROW(expand_exactly(Compression::kSnappy,
                              std::string("\x09\x08"
                                          "abc"
                                          "\x09\x04",
                                          7),
                              9),
               RuntimeError);
}

TEST(Json, FieldsBecomeIntegersFloatsTextAndLists) {
  const Example example =
      parse_json_record(R"({"i":-9223372036854775808,"f":1.5,"s":"a\n\u00e9\ud83d\udea2","n":null,"l":[1,2.5],"e":[],)"
                        R"("t":true,"o":{"x":[1,{"y":2}]},"m":[1,"a"]})");
  EXPECT_EQ(*example.find("i"), Feature(Ints{INT64_MIN}));
  EXPECT_EQ(*example.find("f"), Feature(Floats{1.5F}));
  EXPECT_EQ(example.text("s"), "a\n\xC3\xA9\xF0\x9F\x9A\xA2");
  EXPECT_EQ(example.find("n"), nullptr);
  EXPECT_EQ(*example.find("l"), Feature(Floats{1.0F, 2.5F}));
  EXPECT_EQ(*example.find("e"), Feature(Ints{}));
  EXPECT_EQ(*example.find("t"), Feature(Ints{1}));
  EXPECT_EQ(example.text("o"), R"({"x":[1,{"y":2}]})");
  EXPECT_EQ(example.text("m"), R"([1,"a"])");
}

TEST(Json, MalformedTextIsNamedByColumn) {
  for (const char* text :
       {"", "{", "[1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}x", "{\"a\":01}", "{\"a\":\"\\q\"}",
        "{\"a\":\"\n\"}", "{\"a\":nul}", "{\"a\":[1,]}", "{\"a\":{\"b\"}}", "{\"a\":-}", "{a:1}"}) {
    EXPECT_THAT([&] { parse_json_record(text); }, ThrowsMessage<RuntimeError>(HasSubstr("column"))) << text;
  }
}

TEST(Json, DeepNestingCostsNoStack) {
  const std::string deep(1000000, '[');
  EXPECT_THROW(parse_json_record("{\"a\":" + deep + "}"), RuntimeError);
  EXPECT_NO_THROW(parse_json_record("{\"a\":" + deep + std::string(1000000, ']') + "}"));
}

TEST(TfExample, ComesBackFromItsBytes) {
  Example example;
  example.set("i", Ints{0, -1, INT64_MIN, INT64_MAX});
  example.set("f", Floats{-0.75F});
  example.set("s", Strings{"a", "", std::string("\0b", 2)});
  EXPECT_EQ(parse_tf_example(serialize_tf_example(example)), example);
}

TEST(Example, AMissingFieldIsNamedWithTheNearestOne) {
  Example example;
  example.set_text("text", "x");
  EXPECT_THAT([&] { example.text("txt"); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("\"txt\""), HasSubstr("Did you mean \"text\"?"))));
}

TEST(FileSource, ReadsSeveralFilesOneAfterTheOther) {
  const TempDirectory folder;
  put(folder, "b.txt", "3\n");
  put(folder, "a.txt", "1\n2\n");
  FileSource::Config config;
  config.file_pattern = (folder.path() / "*.txt").string();
  const FileSource source(config);
  ASSERT_EQ(source.size(), 3);
  EXPECT_EQ(source.at(0).text("text"), "1");
  EXPECT_EQ(source.at(2).text("text"), "3");
}

TEST(FileSource, AnErrorNamesFileAndRecord) {
  const TempDirectory folder;
  FileSource::Config config;
  config.file_pattern = put(folder, "a.jsonl", "{\"text\":\"x\"}\n{\"text\":\n");
  const FileSource source(config);
  EXPECT_THAT([&] { source.at(1); },
              ThrowsMessage<RuntimeError>(AllOf(HasSubstr("a.jsonl"), HasSubstr("record 1"), HasSubstr("column"))));
}

TEST(FilePattern, NamesShardsAndLists) {
  const TempDirectory folder;
  put(folder, "x-00000-of-00002", "");
  put(folder, "x-00001-of-00002", "");
  put(folder, "y", "");
  const std::string base = folder.path().string();
  EXPECT_EQ(expand_file_pattern(base + "/x@2").size(), 2U);
  EXPECT_EQ(expand_file_pattern(base + "/x@2," + base + "/y").size(), 3U);
  EXPECT_THAT([&] { expand_file_pattern(base + "/z*"); }, ThrowsMessage<RuntimeError>(HasSubstr("/z*: no such file")));
}

}  // namespace
}  // namespace pax::data
