#include <arrow/array.h>
#include <arrow/io/file.h>
#include <arrow/table.h>
#include <arrow/util/config.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <vector>

#include "pax/base/error.h"
#include "pax/data/data_source.h"

namespace pax::data {
namespace {

void require_ok(const arrow::Status& status, const std::string& place) {
  if (!status.ok()) fail<RuntimeError>("{}: {}", place, status.message());
}

/// Adds element `i` of `values`, which is not null, to `feature` of the matching type. False for types not supported.
template <class Array, class List>
void append_as(const arrow::Array& values, int64_t i, Feature& feature) {
  if (!std::holds_alternative<List>(feature)) feature = List{};
  std::get<List>(feature).push_back(static_cast<typename List::value_type>(static_cast<const Array&>(values).Value(i)));
}

template <class Array>
void append_text(const arrow::Array& values, int64_t i, Feature& feature) {
  if (!std::holds_alternative<Strings>(feature)) feature = Strings{};
  std::get<Strings>(feature).emplace_back(static_cast<const Array&>(values).GetView(i));
}

bool append(const arrow::Array& values, int64_t i, Feature& feature) {
  switch (values.type_id()) {
    case arrow::Type::BOOL:
      return append_as<arrow::BooleanArray, Ints>(values, i, feature), true;
    case arrow::Type::INT8:
      return append_as<arrow::Int8Array, Ints>(values, i, feature), true;
    case arrow::Type::UINT8:
      return append_as<arrow::UInt8Array, Ints>(values, i, feature), true;
    case arrow::Type::INT16:
      return append_as<arrow::Int16Array, Ints>(values, i, feature), true;
    case arrow::Type::UINT16:
      return append_as<arrow::UInt16Array, Ints>(values, i, feature), true;
    case arrow::Type::INT32:
      return append_as<arrow::Int32Array, Ints>(values, i, feature), true;
    case arrow::Type::UINT32:
      return append_as<arrow::UInt32Array, Ints>(values, i, feature), true;
    case arrow::Type::INT64:
      return append_as<arrow::Int64Array, Ints>(values, i, feature), true;
    case arrow::Type::UINT64:
      return append_as<arrow::UInt64Array, Ints>(values, i, feature), true;
    case arrow::Type::TIMESTAMP:
      return append_as<arrow::TimestampArray, Ints>(values, i, feature), true;
    case arrow::Type::DATE32:
      return append_as<arrow::Date32Array, Ints>(values, i, feature), true;
    case arrow::Type::FLOAT:
      return append_as<arrow::FloatArray, Floats>(values, i, feature), true;
    case arrow::Type::DOUBLE:
      return append_as<arrow::DoubleArray, Floats>(values, i, feature), true;
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return append_text<arrow::BinaryArray>(values, i, feature), true;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return append_text<arrow::LargeBinaryArray>(values, i, feature), true;
    case arrow::Type::FIXED_SIZE_BINARY:
      return append_text<arrow::FixedSizeBinaryArray>(values, i, feature), true;
    default:
      return false;
  }
}

template <class ListArray>
bool append_list(const arrow::Array& lists, int64_t i, Feature& feature) {
  const auto& list = static_cast<const ListArray&>(lists);
  bool supported = true;
  for (int64_t k = list.value_offset(i); k < list.value_offset(i) + list.value_length(i); ++k) {
    if (list.values()->IsNull(k)) continue;
    supported = append(*list.values(), k, feature) && supported;
  }
  return supported;
}

bool convert(const arrow::Array& values, int64_t i, Feature& feature) {
  switch (values.type_id()) {
    case arrow::Type::LIST:
      return append_list<arrow::ListArray>(values, i, feature);
    case arrow::Type::LARGE_LIST:
      return append_list<arrow::LargeListArray>(values, i, feature);
    default:
      return append(values, i, feature);
  }
}

class ParquetFile final : public ExampleFile {
 public:
  explicit ParquetFile(const std::filesystem::path& path) : path_(path.string()) {
    auto file = arrow::io::ReadableFile::Open(path_);
    require_ok(file.status(), path_);
    auto reader = parquet::arrow::FileReader::Make(arrow::default_memory_pool(), open_reader(*file));
    require_ok(reader.status(), path_);
    reader_ = std::move(*reader);
    const auto metadata = reader_->parquet_reader()->metadata();
    for (int group = 0; group < metadata->num_row_groups(); ++group) {
      const int64_t rows = metadata->RowGroup(group)->num_rows();
      if (rows < 0) fail<RuntimeError>("{}: row group {} claims {} rows", path_, group, rows);
      first_row_.push_back(first_row_.back() + rows);
    }
  }

  int64_t size() const override { return first_row_.back(); }

  Example at(int64_t index) const override {
    if (index < 0 || index >= size()) fail<RuntimeError>("{}: record {} of {} was asked for", path_, index, size());
    const auto after = std::upper_bound(first_row_.begin(), first_row_.end(), index);
    const auto group = static_cast<int>(after - first_row_.begin()) - 1;
    const int64_t row = index - first_row_[static_cast<size_t>(group)];
    const std::string place = fmt::format("{}: record {} (row {} of row group {})", path_, index, row, group);
    const std::shared_ptr<arrow::Table> table = group_table(group, place);
    if (row >= table->num_rows()) fail<RuntimeError>("{}: the group has only {} rows", place, table->num_rows());
    Example example;
    for (int c = 0; c < table->num_columns(); ++c) {
      const auto& column = *table->column(c);
      int64_t within = row;
      int chunk = 0;
      while (within >= column.chunk(chunk)->length()) within -= column.chunk(chunk++)->length();
      const arrow::Array& values = *column.chunk(chunk);
      if (values.IsNull(within)) continue;
      Feature feature;
      if (!convert(values, within, feature)) {
        fail<RuntimeError>("{}: column \"{}\" of type {} is not supported", place, table->field(c)->name(),
                           values.type()->ToString());
      }
      example.set(table->field(c)->name(), std::move(feature));
    }
    return example;
  }

 private:
  std::unique_ptr<parquet::ParquetFileReader> open_reader(std::shared_ptr<arrow::io::ReadableFile> file) const {
    try {
      return parquet::ParquetFileReader::Open(std::move(file));
    } catch (const parquet::ParquetException& error) {
      fail<RuntimeError>("{}: not a whole Parquet file: {}", path_, error.what());
    }
  }

  std::shared_ptr<arrow::Table> group_table(int group, const std::string& place) const {
    constexpr size_t kKept = 4;
    const std::scoped_lock lock(mutex_);
    for (const auto& [number, table] : kept_) {
      if (number == group) return table;
    }
    try {
      auto table = reader_->ReadRowGroup(group);
      require_ok(table.status(), place);
      kept_.emplace_front(group, *table);
    } catch (const parquet::ParquetException& error) {
      fail<RuntimeError>("{}: {}", place, error.what());
    }
    if (kept_.size() > kKept) kept_.pop_back();
    return kept_.front().second;
  }

  std::string path_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::vector<int64_t> first_row_{0};
  mutable std::mutex mutex_;
  mutable std::list<std::pair<int, std::shared_ptr<arrow::Table>>> kept_;
};

}  // namespace

std::unique_ptr<ExampleFile> open_parquet(const std::filesystem::path& path) {
  return std::make_unique<ParquetFile>(path);
}

}  // namespace pax::data
