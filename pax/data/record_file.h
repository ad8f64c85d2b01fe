#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace pax::data {

/// A file of records, each at hand by number. Safe to read from several threads.
class RecordFile {
 public:
  virtual ~RecordFile() = default;

  /// Records, a damaged one that ends the file counted: reading it throws.
  virtual int64_t size() const = 0;

  /// Record `index`, valid while this file and `scratch` stay as they are. Throws RuntimeError naming file, record and
  /// offset when it is damaged.
  virtual std::string_view at(int64_t index, std::string& scratch) const = 0;

  /// Throws the error of the record that ends the file too early, if opening found one.
  virtual void require_whole() const {}

  const std::string& path() const { return path_; }

 protected:
  explicit RecordFile(std::string path) : path_(std::move(path)) {}
  /// Throws RuntimeError unless `index` is in [0, size()).
  void require_index(int64_t index) const;

 private:
  std::string path_;
};

/// A file in memory maps: as it is, or expanded into a nameless temporary file when it is gzip or zstd.
class FileBytes {
 public:
  /// Throws RuntimeError when the file cannot be read; damage within compressed data is kept for `damage`.
  explicit FileBytes(const std::filesystem::path& path);
  ~FileBytes();

  std::string_view text() const;
  /// Why the expanded bytes end too early; empty when they do not.
  const std::string& damage() const { return damage_; }

 private:
  struct Map;
  std::unique_ptr<Map> map_;
  std::string damage_;
};

/// Which lines count.
enum class LineRule {
  kEvery,    ///< all, a "\r" before the end taken off
  kNotBlank  ///< those with more than spaces: JSON lines
};

/// Lines, ended by "\n" only; the last needs none. Plain, gzip or zstd.
std::unique_ptr<RecordFile> open_line_file(const std::filesystem::path& path, LineRule rule);

/// The whole file as one record. Plain, gzip or zstd.
std::unique_ptr<RecordFile> open_whole_file(const std::filesystem::path& path);

/// TFRecord: lengths and data each with a CRC-32C, both checked. Plain, gzip or zstd.
std::unique_ptr<RecordFile> open_tfrecord(const std::filesystem::path& path);

/// ArrayRecord: chunks of Riegeli records and a footer with the place of each. All hashes are checked.
std::unique_ptr<RecordFile> open_array_record(const std::filesystem::path& path);

}  // namespace pax::data
