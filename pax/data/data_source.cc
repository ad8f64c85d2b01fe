#include "pax/data/data_source.h"

#include <algorithm>
#include <array>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/data/file_pattern.h"

namespace pax::data {
namespace {

class RecordExamples final : public ExampleFile {
 public:
  RecordExamples(std::unique_ptr<RecordFile> file, Example (*parse)(std::string_view))
      : file_(std::move(file)), parse_(parse) {}
  int64_t size() const override { return file_->size(); }
  void require_whole() const override { file_->require_whole(); }
  Example at(int64_t index) const override {
    std::string scratch;
    const std::string_view record = file_->at(index, scratch);
    try {
      return parse_(record);
    } catch (const RuntimeError& error) {
      fail<RuntimeError>("{}: record {}: {}", file_->path(), index, error.what());
    }
  }

 private:
  std::unique_ptr<RecordFile> file_;
  Example (*parse_)(std::string_view);
};

Example text_example(std::string_view text) {
  Example example;
  example.set_text("text", std::string(text));
  return example;
}

}  // namespace

std::span<const std::pair<RecordFormat, std::string_view>> enum_names(RecordFormat) {
  static constexpr std::array<std::pair<RecordFormat, std::string_view>, 6> kNames{
      {{RecordFormat::kText, "text"},
       {RecordFormat::kWholeText, "whole_text"},
       {RecordFormat::kJsonl, "jsonl"},
       {RecordFormat::kTfRecord, "tfrecord"},
       {RecordFormat::kArrayRecord, "array_record"},
       {RecordFormat::kParquet, "parquet"}}};
  return kNames;
}

RecordFormat format_of(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".zstd"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  constexpr std::array<std::pair<std::string_view, RecordFormat>, 9> kEndings{
      {{".txt", RecordFormat::kText},
       {".jsonl", RecordFormat::kJsonl},
       {".ndjson", RecordFormat::kJsonl},
       {".json", RecordFormat::kJsonl},
       {".tfrecord", RecordFormat::kTfRecord},
       {".tfrecords", RecordFormat::kTfRecord},
       {".array_record", RecordFormat::kArrayRecord},
       {".arrayrecord", RecordFormat::kArrayRecord},
       {".parquet", RecordFormat::kParquet}}};
  for (const auto& [ending, format] : kEndings) {
    // `c4-train.tfrecord-00000-of-01024` names a shard.
    if (name.ends_with(ending) || name.find(std::string(ending) + "-") != std::string::npos) return format;
  }
  fail<RuntimeError>(
      "{}: the ending does not say what the records are; set format, or use .txt, .jsonl, .tfrecord, .array_record or "
      ".parquet (also with .gz or .zst)",
      path.string());
}

std::unique_ptr<ExampleFile> open_examples(const std::filesystem::path& path, RecordFormat format) {
  switch (format) {
    case RecordFormat::kText:
      return std::make_unique<RecordExamples>(open_line_file(path, LineRule::kEvery), text_example);
    case RecordFormat::kWholeText:
      return std::make_unique<RecordExamples>(open_whole_file(path), text_example);
    case RecordFormat::kJsonl:
      return std::make_unique<RecordExamples>(open_line_file(path, LineRule::kNotBlank), parse_json_record);
    case RecordFormat::kTfRecord:
      return std::make_unique<RecordExamples>(open_tfrecord(path), parse_tf_example);
    case RecordFormat::kArrayRecord:
      return std::make_unique<RecordExamples>(open_array_record(path), parse_tf_example);
    case RecordFormat::kParquet:
      return open_parquet(path);
  }
  fail<RuntimeError>("{}: unknown record format {}", path.string(), static_cast<int>(format));
}

FileSource::FileSource(const Config& config) : paths_(expand_file_pattern(*config.file_pattern)), first_{0} {
  for (const std::filesystem::path& path : paths_) {
    files_.push_back(open_examples(path, config.format ? *config.format : format_of(path)));
    first_.push_back(first_.back() + files_.back()->size());
  }
}

Example FileSource::at(int64_t index) const {
  if (index < 0 || index >= size()) {
    fail<RuntimeError>("{}: record {} of {} was asked for", paths_.front().string(), index, size());
  }
  const auto after = std::upper_bound(first_.begin(), first_.end(), index);
  const auto file = static_cast<size_t>(after - first_.begin()) - 1;
  return files_[file]->at(index - first_[file]);
}

DatasetIdentity FileSource::identity() const { return identify_files(paths_); }

void FileSource::require_whole() const {
  for (const auto& file : files_) file->require_whole();
}

DatasetIdentity MemorySource::identity() const {
  Digest digest;
  for (const Example& example : examples_) {
    const std::string bytes = serialize_tf_example(example);
    digest.update(fmt::format("{}:", bytes.size())).update(bytes);
  }
  return {fmt::format("{} ({} records)", name_, examples_.size()), digest.hex()};
}

}  // namespace pax::data

template const pax::config::ConfigType& pax::config::type_of<pax::data::FileSource::Config>();
