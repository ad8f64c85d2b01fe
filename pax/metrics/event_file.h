#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "pax/metrics/append_file.h"

namespace pax {

/// A TensorBoard event file in `directory` (`summaries/train`), written by its own thread (AppendFile: errors surface
/// at the next call and at `close`). Records are TFRecords of tensorflow.Event.
class EventFileWriter {
 public:
  /// Tells TensorBoard to forget what earlier files in the folder say about `first_step` and the steps after it.
  explicit EventFileWriter(const std::filesystem::path& directory, int64_t first_step = 0);

  void scalar(int64_t step, std::string_view tag, double value);
  /// Markdown.
  void text(int64_t step, std::string_view tag, std::string_view value);
  /// The distribution of `values` in at most 30 buckets of equal width. Values that are not finite are left out.
  void histogram(int64_t step, std::string_view tag, std::span<const double> values);
  void close() { file_.close(); }

 private:
  AppendFile file_;
};

/// `payload` as a TFRecord: length, masked CRC-32C of the length, payload, masked CRC-32C of the payload.
std::string tfrecord(std::string_view payload);

}  // namespace pax
