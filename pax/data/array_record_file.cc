#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <vector>

#include "pax/base/error.h"
#include "pax/base/files.h"
#include "pax/data/compression.h"
#include "pax/data/highway_hash.h"
#include "pax/data/record_file.h"
#include "pax/data/riegeli.h"
#include "pax/data/wire.h"

// Layout: Riegeli chunks; the last 64 KiB block holds a postscript that names the footer chunk, whose records say where
// each data chunk begins and how many records it has.

namespace pax::data {
namespace {

struct Chunk {
  char type = 0;
  uint64_t num_records = 0;
  std::string values;          ///< the records, one after the other
  std::vector<uint64_t> ends;  ///< of each record in `values`
  std::string_view record(size_t i) const {
    const uint64_t begin = i == 0 ? 0 : ends[i - 1];
    return std::string_view(values).substr(begin, ends[i] - begin);
  }
};

uint64_t load64(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, 8);
  return value;
}

/// `size` bytes from `begin` on, the block headers between left out.
std::string read_around_blocks(std::string_view file, uint64_t& begin, uint64_t size) {
  std::string out;
  while (size > 0) {
    if (begin % kRiegeliBlock < kRiegeliBlockHeader) begin += kRiegeliBlockHeader - begin % kRiegeliBlock;
    const uint64_t step = std::min(size, kRiegeliBlock - begin % kRiegeliBlock);
    if (begin > file.size() || file.size() - begin < step) {
      fail<RuntimeError>("the file ends inside it, after {} bytes", file.size());
    }
    out += file.substr(begin, step);
    begin += step;
    size -= step;
  }
  return out;
}

Compression compression_of(char type) {
  switch (type) {
    case '\0':
      return Compression::kNone;
    case 'b':
      return Compression::kBrotli;
    case 'z':
      return Compression::kZstd;
    case 's':
      return Compression::kSnappy;
    default:
      fail<RuntimeError>("compression {} is not known", static_cast<int>(type));
  }
}

/// A block with its expanded size in front, unless it is not compressed.
std::string expand_block(Compression compression, std::string_view block) {
  if (compression == Compression::kNone) return std::string(block);
  WireReader reader(block);
  const uint64_t size = reader.varint();
  return expand_exactly(compression, reader.rest(), size);
}

void decode_simple_chunk(std::string_view data, uint64_t decoded_size, Chunk& chunk) {
  if (data.empty()) fail<RuntimeError>("it has no data");
  const Compression compression = compression_of(data.front());
  WireReader prefix(data.substr(1));
  const uint64_t sizes_size = prefix.varint();
  data = prefix.rest();
  if (sizes_size > data.size()) fail<RuntimeError>("its sizes take {} bytes, {} are left", sizes_size, data.size());
  const std::string sizes = expand_block(compression, data.substr(0, sizes_size));
  chunk.values = expand_block(compression, data.substr(sizes_size));
  WireReader reader(sizes);
  uint64_t end = 0;
  for (uint64_t i = 0; i < chunk.num_records; ++i) {
    const uint64_t size = reader.varint();
    if (size > chunk.values.size() - end) fail<RuntimeError>("its record {} is longer than its data", i);
    chunk.ends.push_back(end += size);
  }
  if (end != chunk.values.size() || end != decoded_size || !reader.empty()) {
    fail<RuntimeError>("its records have {} bytes, {} are stored, {} are claimed", end, chunk.values.size(),
                       decoded_size);
  }
}

/// The chunk that begins at `begin`.
Chunk read_chunk(std::string_view file, uint64_t begin) {
  if (begin > file.size()) fail<RuntimeError>("it begins beyond the end of the file ({} bytes)", file.size());
  uint64_t at = begin;
  const std::string header = read_around_blocks(file, at, kRiegeliChunkHeader);
  if (highway_hash64(std::string_view(header).substr(8), kRiegeliHashKey) != load64(header, 0)) {
    fail<RuntimeError>("the hash of its header differs: damaged");
  }
  const uint64_t data_size = load64(header, 8);
  Chunk chunk;
  chunk.type = header[24];
  chunk.num_records = load64(header, 24) >> 8;
  if (data_size > file.size()) fail<RuntimeError>("its {} bytes are more than the file has", data_size);
  const std::string data = read_around_blocks(file, at, data_size);
  if (highway_hash64(data, kRiegeliHashKey) != load64(header, 16))
    fail<RuntimeError>("the hash of its data differs: damaged");
  if (chunk.type == 't') fail<RuntimeError>("its records are transposed; write the file with transpose:false");
  if (chunk.type != 'r') fail<RuntimeError>("a chunk of records was expected, not of type {}", int{chunk.type});
  decode_simple_chunk(data, load64(header, 32), chunk);
  return chunk;
}

class ArrayRecordFile final : public RecordFile {
 public:
  explicit ArrayRecordFile(const std::filesystem::path& path) : RecordFile(path.string()), file_(path) {
    try {
      read_footer();
    } catch (const RuntimeError& error) {
      fail<RuntimeError>("{}: not a whole ArrayRecord file: {}", path.string(), error.what());
    }
  }

  int64_t size() const override { return first_record_.empty() ? 0 : first_record_.back(); }

  std::string_view at(int64_t index, std::string& scratch) const override {
    require_index(index);
    const auto after = std::upper_bound(first_record_.begin(), first_record_.end(), index);
    const auto number = static_cast<size_t>(after - first_record_.begin()) - 1;
    const auto within = static_cast<size_t>(index - first_record_[number]);
    const std::shared_ptr<const Chunk> chunk = chunk_of(number, index);
    scratch = chunk->record(within);
    return scratch;
  }

 private:
  void read_footer() {
    const std::string_view file = file_.text();
    if (file.size() < kRiegeliBlock) fail<RuntimeError>("it has only {} bytes", file.size());
    const Chunk postscript = named_chunk("the postscript", file.size() - kRiegeliBlock);
    if (postscript.num_records == 0) fail<RuntimeError>("its postscript is empty");
    uint64_t footer_offset = 0;
    WireReader reader(postscript.record(0));
    while (const auto field = reader.next()) {
      if (field->number == 1) footer_offset = field->value;
    }
    const Chunk footer = named_chunk("the footer", footer_offset);
    first_record_ = {0};
    for (size_t i = 1; i < footer.num_records; ++i) {
      WireReader entry(footer.record(i));
      uint64_t offset = 0;
      uint64_t records = 0;
      while (const auto field = entry.next()) {
        if (field->number == 1) offset = field->value;
        if (field->number == 3) records = field->value;
      }
      if (records > (uint64_t{1} << 48)) fail<RuntimeError>("the footer claims {} records in one chunk", records);
      offsets_.push_back(offset);
      first_record_.push_back(first_record_.back() + static_cast<int64_t>(records));
    }
  }

  Chunk named_chunk(std::string_view what, uint64_t offset) const {
    try {
      return read_chunk(file_.text(), offset);
    } catch (const RuntimeError& error) {
      fail<RuntimeError>("{} at offset {}: {}", what, offset, error.what());
    }
  }

  /// The decoded chunk `number`; the last few are kept.
  std::shared_ptr<const Chunk> chunk_of(size_t number, int64_t record) const {
    constexpr size_t kKept = 4;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [kept, chunk] : kept_) {
        if (kept == number) return chunk;
      }
    }
    std::shared_ptr<const Chunk> chunk;
    try {
      chunk = std::make_shared<const Chunk>(read_chunk(file_.text(), offsets_[number]));
    } catch (const RuntimeError& error) {
      fail<RuntimeError>("{}: record {}, in the chunk at offset {}: {}", path(), record, offsets_[number],
                         error.what());
    }
    const auto expected = static_cast<uint64_t>(first_record_[number + 1] - first_record_[number]);
    if (chunk->num_records != expected) {
      fail<RuntimeError>("{}: record {}: the chunk at offset {} has {} records but the footer says {}", path(), record,
                         offsets_[number], chunk->num_records, expected);
    }
    if (expected == 1) return chunk;
    const std::scoped_lock lock(mutex_);
    kept_.emplace_front(number, chunk);
    if (kept_.size() > kKept) kept_.pop_back();
    return chunk;
  }

  MappedFile file_;
  std::vector<uint64_t> offsets_;      ///< of each data chunk
  std::vector<int64_t> first_record_;  ///< of each data chunk, and the total
  mutable std::mutex mutex_;
  mutable std::list<std::pair<size_t, std::shared_ptr<const Chunk>>> kept_;
};

}  // namespace

std::unique_ptr<RecordFile> open_array_record(const std::filesystem::path& path) {
  return std::make_unique<ArrayRecordFile>(path);
}

}  // namespace pax::data
