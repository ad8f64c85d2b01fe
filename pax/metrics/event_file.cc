#include "pax/metrics/event_file.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <vector>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/metrics/wire.h"

namespace pax {
namespace {

constexpr uint64_t kDouble = 2;  // tensorflow.DataType
constexpr uint64_t kString = 7;
constexpr uint64_t kTensorClass = 2;  // tensorflow.DataClass
constexpr uint64_t kSessionStart = 1;

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A name that no other writer takes: time, process and a count of tries.
std::filesystem::path fresh_path(const std::filesystem::path& directory) {
  const auto seconds = static_cast<int64_t>(wall_time());
  for (int i = 0;; ++i) {
    auto path = directory / fmt::format("events.out.tfevents.{:010}.pax.{}.{}", seconds, ::getpid(), i);
    if (!std::filesystem::exists(path)) return path;
  }
}

template <class T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

WireWriter event(int64_t step) {
  WireWriter message;
  message.fixed64(1, wall_time());
  if (step != 0) message.varint(2, static_cast<uint64_t>(step));
  return message;
}

/// A record that holds one value of one tag.
std::string summary_record(int64_t step, WireWriter value) {
  return tfrecord(event(step).message(5, WireWriter().message(1, value)).out());
}

/// A value shown by TensorBoard's plugin of that name: a tensor of `dtype` whose contents stand in `field`.
WireWriter plugin_value(std::string_view tag, std::string_view plugin, WireWriter tensor) {
  WireWriter metadata;
  metadata.message(1, WireWriter().bytes(1, plugin)).varint(4, kTensorClass);
  return WireWriter().bytes(1, tag).message(8, tensor).message(9, metadata);
}

WireWriter tensor_shape(std::initializer_list<uint64_t> dims) {
  WireWriter shape;
  for (const uint64_t dim : dims) shape.message(2, WireWriter().varint(1, dim));
  return shape;
}

/// Rows of (left edge, right edge, count).
std::vector<double> bucket_rows(std::vector<double> values) {
  if (values.empty()) return {};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double first = *low;
  const double last = *high;
  const size_t count = first == last ? 1 : 30;
  const auto buckets = static_cast<double>(count);
  const double width = first == last ? 1 : last / buckets - first / buckets;
  std::vector<double> rows(3 * count);
  for (size_t i = 0; i < count; ++i) {
    rows[3 * i] = first == last ? first - 0.5 : first + width * static_cast<double>(i);
    rows[3 * i + 1] = i + 1 == count && count > 1 ? last : rows[3 * i] + width;
  }
  for (const double value : values) {
    const auto bucket = count == 1 ? 0 : static_cast<size_t>((value - first) / width);
    rows[3 * std::min(bucket, count - 1) + 2] += 1;
  }
  return rows;
}

}  // namespace

std::string tfrecord(std::string_view payload) {
  const std::string length = raw(static_cast<uint64_t>(payload.size()));
  return length + raw(masked_crc32c(length)) + std::string(payload) + raw(masked_crc32c(payload));
}

EventFileWriter::EventFileWriter(const std::filesystem::path& directory, int64_t first_step)
    : file_(fresh_path(directory)) {
  file_.append(tfrecord(event(0).bytes(3, "brain.Event:2").out()));
  file_.append(tfrecord(event(first_step).message(7, WireWriter().varint(1, kSessionStart)).out()));
}

void EventFileWriter::scalar(int64_t step, std::string_view tag, double value) {
  file_.append(summary_record(step, WireWriter().bytes(1, tag).fixed32(2, static_cast<float>(value))));
}

void EventFileWriter::text(int64_t step, std::string_view tag, std::string_view value) {
  WireWriter tensor;
  tensor.varint(1, kString).message(2, tensor_shape({1})).bytes(8, value);
  file_.append(summary_record(step, plugin_value(tag, "text", tensor)));
}

void EventFileWriter::histogram(int64_t step, std::string_view tag, std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  const std::vector<double> rows = bucket_rows(std::move(finite));
  WireWriter tensor;
  tensor.varint(1, kDouble).message(2, tensor_shape({rows.size() / 3, 3}));
  tensor.bytes(4, {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(double)});
  file_.append(summary_record(step, plugin_value(tag, "histograms", tensor)));
}

}  // namespace pax
