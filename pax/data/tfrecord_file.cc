#include <cstring>
#include <vector>

#include "pax/base/error.h"
#include "pax/base/hash.h"
#include "pax/data/record_file.h"

namespace pax::data {
namespace {

// A record: length u64, masked CRC of the length u32, data, masked CRC of the data u32; all little-endian.
constexpr size_t kHeader = 12;
constexpr size_t kFooter = 4;

template <class T>
T load(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

class TfRecordFile final : public RecordFile {
 public:
  explicit TfRecordFile(const std::filesystem::path& path) : RecordFile(path.string()), bytes_(path) { index(); }

  int64_t size() const override { return static_cast<int64_t>(starts_.size()) + (damage_.empty() ? 0 : 1); }

  std::string_view at(int64_t index, std::string&) const override {
    require_index(index);
    if (static_cast<size_t>(index) == starts_.size()) require_whole();
    const size_t start = starts_[static_cast<size_t>(index)];
    const auto length = load<uint64_t>(bytes_.text(), start);
    const std::string_view data = bytes_.text().substr(start + kHeader, length);
    const auto stored = load<uint32_t>(bytes_.text(), start + kHeader + length);
    const uint32_t computed = masked_crc32c(data);
    if (stored != computed) {
      fail<RuntimeError>("{}: record {} at offset {}: the CRC of its {} bytes is {:08x} but {:08x} is stored: damaged",
                         path(), index, start, length, computed, stored);
    }
    return data;
  }

  void require_whole() const override {
    if (!damage_.empty()) fail<RuntimeError>("{}: record {} at {}", path(), starts_.size(), damage_);
  }

 private:
  void index() {
    const std::string_view text = bytes_.text();
    size_t at = 0;
    while (at < text.size()) {
      damage_ = problem_at(text, at);
      if (!damage_.empty()) break;
      starts_.push_back(at);
      at += kHeader + load<uint64_t>(text, at) + kFooter;
    }
    if (!bytes_.damage().empty()) damage_ = fmt::format("offset {} (expanded): {}", at, bytes_.damage());
  }

  /// Why no whole record starts at `at`; empty when one does.
  static std::string problem_at(std::string_view text, size_t at) {
    const size_t left = text.size() - at;
    if (left < kHeader) return fmt::format("offset {}: only {} of the header's {} bytes are there", at, left, kHeader);
    const auto length = load<uint64_t>(text, at);
    if (masked_crc32c(text.substr(at, 8)) != load<uint32_t>(text, at + 8)) {
      return fmt::format("offset {}: the CRC of its length differs: damaged, or not a TFRecord file", at);
    }
    if (length > left - kHeader || left - kHeader - length < kFooter) {
      return fmt::format("offset {}: it is {} bytes long but only {} are left: the file is cut short", at, length,
                         left - kHeader);
    }
    return "";
  }

  FileBytes bytes_;
  std::vector<uint64_t> starts_;
  std::string damage_;
};

}  // namespace

std::unique_ptr<RecordFile> open_tfrecord(const std::filesystem::path& path) {
  return std::make_unique<TfRecordFile>(path);
}

}  // namespace pax::data
