#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace pax::data {

/// Writes a file of records. Nothing stands at the path until `close`: what is not finished leaves no file.
class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  /// Throws RuntimeError naming the file when the disk refuses.
  virtual void add(std::string_view record) = 0;
  virtual void close() = 0;
};

/// Records as TFRecord.
std::unique_ptr<RecordWriter> write_tfrecord(const std::filesystem::path& path);

/// Records as ArrayRecord, not compressed, `group_size` in each chunk: 1 is quickest to read at random.
std::unique_ptr<RecordWriter> write_array_record(const std::filesystem::path& path, int64_t group_size = 1);

/// The bytes of the records and nothing else: ids as `.bin`, lines.
std::unique_ptr<RecordWriter> write_plain(const std::filesystem::path& path);

}  // namespace pax::data
