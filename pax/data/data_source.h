#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pax/config/config.h"
#include "pax/data/dataset_identity.h"
#include "pax/data/example.h"
#include "pax/data/record_file.h"

namespace pax::data {

/// Examples at hand by number. Safe to read from several threads. An own source implements these three functions and a
/// Config (see `JsonlSource`).
class DataSource {
 public:
  using Kind = DataSource;
  virtual ~DataSource() = default;

  virtual int64_t size() const = 0;
  /// Throws RuntimeError naming file, record and offset when the record is damaged.
  virtual Example at(int64_t index) const = 0;
  virtual DatasetIdentity identity() const = 0;

  /// Throws when opening found damage: before training rather than hours into it.
  virtual void require_whole() const {}
};

/// A file whose records are examples.
class ExampleFile {
 public:
  virtual ~ExampleFile() = default;
  virtual int64_t size() const = 0;
  virtual Example at(int64_t index) const = 0;
  virtual void require_whole() const {}
};

/// What the records of a file are.
enum class RecordFormat { kText, kWholeText, kJsonl, kTfRecord, kArrayRecord, kParquet };
std::span<const std::pair<RecordFormat, std::string_view>> enum_names(RecordFormat);

/// By the name's ending (`.txt`, `.jsonl`, `.json`, `.tfrecord`, `.array_record`, `.arrayrecord`, `.parquet`, each also
/// with `.gz` or `.zst`). Throws RuntimeError naming the endings that are known.
RecordFormat format_of(const std::filesystem::path& path);

/// Opens a file; text becomes field `text`. TFRecord and ArrayRecord hold tf.Example.
std::unique_ptr<ExampleFile> open_examples(const std::filesystem::path& path, RecordFormat format);

/// Examples of a Parquet file, one a row; row groups are decoded when asked for, the last few kept.
std::unique_ptr<ExampleFile> open_parquet(const std::filesystem::path& path);

/// The examples of several files, one file after the other.
class FileSource final : public DataSource {
 public:
  struct Config {
    using Product = FileSource;
    static constexpr std::string_view kName = "pax.FileSource";
    static constexpr std::string_view kDoc = "Records of files: text, JSON lines, TFRecord, ArrayRecord, Parquet.";
    Required<std::string> file_pattern{};
    std::optional<RecordFormat> format{};
    static void fields(auto& self, auto&& visit) {
      visit("file_pattern", self.file_pattern, "A path, a glob, `name@10` for ten shards, or several, by commas.");
      visit("format", self.format, "Unset: by the ending of each name.");
    }
  };

  explicit FileSource(const Config& config);

  int64_t size() const override { return first_.back(); }
  Example at(int64_t index) const override;
  DatasetIdentity identity() const override;
  void require_whole() const override;

 private:
  std::vector<std::filesystem::path> paths_;
  std::vector<std::unique_ptr<ExampleFile>> files_;
  std::vector<int64_t> first_;  ///< record of each file, and the total
};

/// Examples given in memory: for tests, and for data made by a program.
class MemorySource final : public DataSource {
 public:
  explicit MemorySource(std::vector<Example> examples, std::string name = "memory")
      : examples_(std::move(examples)), name_(std::move(name)) {}
  int64_t size() const override { return static_cast<int64_t>(examples_.size()); }
  Example at(int64_t index) const override { return examples_.at(static_cast<size_t>(index)); }
  DatasetIdentity identity() const override;

 private:
  std::vector<Example> examples_;
  std::string name_;
};

}  // namespace pax::data

extern template const pax::config::ConfigType& pax::config::type_of<pax::data::FileSource::Config>();
