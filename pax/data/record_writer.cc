#include "pax/data/record_writer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/base/hash.h"
#include "pax/data/highway_hash.h"
#include "pax/data/riegeli.h"

namespace pax::data {
namespace {

template <class T>
void append(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void append_field(std::string& out, uint32_t number, uint64_t value) {
  append_varint(out, uint64_t{number} << 3);
  append_varint(out, value);
}

/// A file that gets its name when it is whole.
class PartFile {
 public:
  explicit PartFile(std::filesystem::path path) : path_(std::move(path)), part_(path_.string() + ".part") {
    file_ = std::fopen(part_.c_str(), "wb");
    if (file_ == nullptr) refuse();
  }
  ~PartFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::error_code ignored;
    std::filesystem::remove(part_, ignored);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void append(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) refuse();
    size_ += bytes.size();
  }
  uint64_t size() const { return size_; }
  void close() {
    const int failed = std::fclose(std::exchange(file_, nullptr));
    if (failed != 0) refuse();
    std::filesystem::rename(part_, path_);
  }

 private:
  [[noreturn]] void refuse() const { fail<RuntimeError>("{}: cannot be written: {}", part_, std::strerror(errno)); }

  std::filesystem::path path_;
  std::string part_;
  std::FILE* file_ = nullptr;
  uint64_t size_ = 0;
};

class PlainWriter final : public RecordWriter {
 public:
  explicit PlainWriter(const std::filesystem::path& path) : file_(path) {}
  void add(std::string_view record) override { file_.append(record); }
  void close() override { file_.close(); }

 private:
  PartFile file_;
};

class TfRecordWriter final : public RecordWriter {
 public:
  explicit TfRecordWriter(const std::filesystem::path& path) : file_(path) {}
  void add(std::string_view record) override {
    std::string head;
    append(head, static_cast<uint64_t>(record.size()));
    append(head, masked_crc32c(head));
    file_.append(head);
    file_.append(record);
    std::string tail;
    append(tail, masked_crc32c(record));
    file_.append(tail);
  }
  void close() override { file_.close(); }

 private:
  PartFile file_;
};

class ArrayRecordWriter final : public RecordWriter {
 public:
  ArrayRecordWriter(const std::filesystem::path& path, int64_t group_size)
      : file_(path), group_size_(static_cast<uint64_t>(group_size)) {
    if (group_size < 1) fail<ConfigError>("{}: group_size is {}, at least 1 belongs there", path.string(), group_size);
    put_chunk('s', 0, 0, "");
  }

  void add(std::string_view record) override {
    append_varint(sizes_, record.size());
    values_.append(record);
    if (++count_ == group_size_) end_group();
  }

  void close() override {
    if (count_ > 0) end_group();
    // ArrayRecordMetadata: version, chunks, records; then the place and size of every chunk.
    std::string about;
    append_field(about, 1, 1);
    append_field(about, 2, num_chunks_);
    append_field(about, 3, num_records_);
    std::string metadata;
    append_varint(metadata, 1 << 3 | 2);
    append_varint(metadata, about.size());
    metadata += about;
    std::string sizes;
    append_varint(sizes, metadata.size());
    const uint64_t footer_offset = file_.size();
    put_records(num_chunks_ + 1, sizes + footer_sizes_, metadata + footer_);
    pad_to_block();
    std::string postscript;
    append_field(postscript, 1, footer_offset);
    append_field(postscript, 2, kPostscriptMagic);
    std::string size;
    append_varint(size, postscript.size());
    put_records(1, size, postscript);
    pad_to_block();
    file_.close();
  }

 private:
  static constexpr uint64_t kPostscriptMagic = 0x71930e704fdae05e;

  void end_group() {
    std::string entry;
    append_field(entry, 1, file_.size());
    append_field(entry, 2, values_.size());
    append_field(entry, 3, count_);
    append_varint(footer_sizes_, entry.size());
    footer_ += entry;
    put_records(count_, sizes_, values_);
    ++num_chunks_;
    num_records_ += count_;
    sizes_.clear();
    values_.clear();
    count_ = 0;
  }

  /// A chunk of records that are not compressed.
  void put_records(uint64_t count, const std::string& sizes, const std::string& values) {
    std::string data(1, '\0');
    append_varint(data, sizes.size());
    data += sizes;
    data += values;
    put_chunk('r', count, values.size(), data);
  }

  void put_chunk(char type, uint64_t count, uint64_t decoded_size, std::string_view data) {
    std::string body;
    append(body, static_cast<uint64_t>(data.size()));
    append(body, highway_hash64(data, kRiegeliHashKey));
    append(body, count << 8 | static_cast<uint8_t>(type));
    append(body, decoded_size);
    std::string chunk;
    append(chunk, highway_hash64(body, kRiegeliHashKey));
    chunk += body;
    chunk += data;
    put_around_blocks(chunk);
  }

  /// Appends a chunk, with a block header wherever a block begins.
  void put_around_blocks(std::string_view chunk) {
    const uint64_t begin = file_.size();
    const uint64_t end = end_after_headers(begin, chunk.size());
    while (!chunk.empty()) {
      const uint64_t at = file_.size();
      if (at % kRiegeliBlock == 0) {
        std::string distances;
        append(distances, at - begin);
        append(distances, end - at);
        std::string header;
        append(header, highway_hash64(distances, kRiegeliHashKey));
        file_.append(header + distances);
        continue;
      }
      const uint64_t step = std::min<uint64_t>(chunk.size(), kRiegeliBlock - at % kRiegeliBlock);
      file_.append(chunk.substr(0, step));
      chunk.remove_prefix(step);
    }
  }

  /// A chunk of zeros up to the end of the block.
  void pad_to_block() {
    const uint64_t within = file_.size() % kRiegeliBlock;
    if (within == 0) return;
    uint64_t left = kRiegeliBlock - within;
    if (left < kRiegeliChunkHeader) left += kRiegeliBlock - kRiegeliBlockHeader;
    put_chunk('p', 0, 0, std::string(left - kRiegeliChunkHeader, '\0'));
  }

  static uint64_t end_after_headers(uint64_t at, uint64_t size) {
    while (size > 0) {
      if (at % kRiegeliBlock == 0) at += kRiegeliBlockHeader;
      const uint64_t step = std::min(size, kRiegeliBlock - at % kRiegeliBlock);
      at += step;
      size -= step;
    }
    return at;
  }

  PartFile file_;
  uint64_t group_size_;
  uint64_t count_ = 0;  ///< records of the open group
  std::string sizes_, values_;
  uint64_t num_chunks_ = 0, num_records_ = 0;
  std::string footer_sizes_, footer_;
};

}  // namespace

std::unique_ptr<RecordWriter> write_tfrecord(const std::filesystem::path& path) {
  return std::make_unique<TfRecordWriter>(path);
}
std::unique_ptr<RecordWriter> write_array_record(const std::filesystem::path& path, int64_t group_size) {
  return std::make_unique<ArrayRecordWriter>(path, group_size);
}
std::unique_ptr<RecordWriter> write_plain(const std::filesystem::path& path) {
  return std::make_unique<PlainWriter>(path);
}

}  // namespace pax::data
