#include "pax/metrics/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/metrics/wire.h"

namespace pax {
namespace {

using ::testing::HasSubstr;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// Payloads of the records of the only file in `folder`.
std::vector<std::string> records_in(const std::filesystem::path& folder) {
  const auto path = std::filesystem::directory_iterator(folder)->path();
  const std::string all = read_file(path);
  std::vector<std::string> records;
  for (size_t at = 0; at < all.size();) {
    uint64_t length = 0;
    std::memcpy(&length, all.data() + at, 8);
    records.push_back(all.substr(at + 12, length));
    at += 16 + length;
  }
  return records;
}

TEST(WireWriter, EncodesAsProtobufDoes) {
  EXPECT_EQ(hex(WireWriter().varint(1, 150).out()), "089601");
  EXPECT_EQ(hex(WireWriter().bytes(2, "testing").out()), "120774657374696e67");
  EXPECT_EQ(hex(WireWriter().fixed32(2, 1.0f).out()), "150000803f");
  EXPECT_EQ(hex(WireWriter().fixed64(1, 1.0).out()), "09000000000000f03f");
}

TEST(TfRecord, CarriesMaskedChecksums) {
  // As tensorboard.summary.writer.record_writer.RecordWriter writes b"abc".
  EXPECT_EQ(hex(tfrecord("abc")), "0300000000000000b099490e6162636e57f121");
}

TEST(EventFile, BeginsWithTheVersion) {
  const TempDirectory folder;
  EventFileWriter(folder.path()).close();
  const auto records = records_in(folder.path());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_THAT(records[0], HasSubstr("brain.Event:2"));
}

TEST(EventFile, WritesARecordForEachValue) {
  const TempDirectory folder;
  EventFileWriter writer(folder.path(), 7);
  writer.scalar(8, "loss", 1.0);
  writer.text(8, "config", "text of it");
  const std::vector<double> values = {0, 1, 2};
  writer.histogram(8, "weights", values);
  writer.close();
  const auto records = records_in(folder.path());
  ASSERT_EQ(records.size(), 5u);
  EXPECT_THAT(hex(records[1]), HasSubstr("10073a020801"));  // step 7, session_log {status: START}
  EXPECT_THAT(hex(records[2]), HasSubstr("10082a0d0a0b0a046c6f7373150000803f"));
  EXPECT_THAT(records[3], HasSubstr("text of it"));
  EXPECT_THAT(records[4], HasSubstr("histograms"));
}

}  // namespace
}  // namespace pax
