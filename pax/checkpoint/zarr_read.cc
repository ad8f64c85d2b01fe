#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "pax/base/error.h"
#include "pax/checkpoint/zarr.h"

namespace pax {
namespace {

/// What reading one region of one array needs to know.
struct Source {
  const ByteStore& store;
  std::string name;
  ZarrArray array;
  Region region;
  std::span<std::byte> out;
  size_t element_bytes;

  std::string key(const std::string& chunk) const { return fmt::format("{}/{}", name, chunk); }

  /// Copies the part of `chunk` (held in `bytes`, with origin `origin`) that the region wants.
  void scatter(std::span<const std::byte> bytes, const Shape& chunk, const std::vector<int64_t>& origin) const {
    const Region shared = intersection(region, {.begin = origin, .size = {chunk.begin(), chunk.end()}});
    if (shared.num_elements() == 0) return;
    copy_region({bytes, chunk, relative_to(shared, origin).begin},
                {out, Shape(region.size), relative_to(shared, region.begin).begin}, shared.size, element_bytes);
  }
};

/// Zeros where `chunk` is absent.
void fill_zeros(const Source& source, const std::string& key, const Shape& chunk, const std::vector<int64_t>& origin) {
  if (!source.array.absent_is_zero) fail<RuntimeError>("{}: a chunk is missing", source.store.describe(key));
  const Region shared = intersection(source.region, {.begin = origin, .size = {chunk.begin(), chunk.end()}});
  const std::vector<std::byte> zeros(static_cast<size_t>(shared.num_elements()) * source.element_bytes);
  source.scatter(zeros, Shape(shared.size), shared.begin);
}

using SourcePtr = std::shared_ptr<const Source>;
using Work = std::function<void()>;

std::vector<int64_t> scaled(const std::vector<int64_t>& index, const Shape& cell) {
  std::vector<int64_t> origin = index;
  for (size_t d = 0; d < origin.size(); ++d) origin[d] *= cell[static_cast<int64_t>(d)];
  return origin;
}

size_t byte_count(const Shape& shape, size_t element_bytes) {
  return static_cast<size_t>(shape.num_elements()) * element_bytes;
}

/// An uncompressed chunk of which the wanted elements follow each other, in the file and in the result: read in place,
/// in pieces that end where checksummed blocks do.
void plan_contiguous(std::vector<Work>& work, const SourcePtr& source, const std::string& key, const Region& in_chunk,
                     const Region& in_out) {
  const size_t bytes = source->element_bytes;
  uint64_t from = static_cast<uint64_t>(first_element(in_chunk, source->array.chunk)) * bytes;
  size_t to = static_cast<size_t>(first_element(in_out, Shape(source->region.size))) * bytes;
  const size_t end = to + static_cast<size_t>(in_chunk.num_elements()) * bytes;
  while (to < end) {
    const size_t piece = std::min<size_t>(end - to, kChecksumBlock - from % kChecksumBlock);
    work.push_back([source, key, from, to, piece] { source->store.read(key, from, source->out.subspan(to, piece)); });
    from += piece;
    to += piece;
  }
}

/// An uncompressed chunk of which scattered elements are wanted: read by groups of rows.
void plan_rows(std::vector<Work>& work, const SourcePtr& source, const std::string& key, const Region& in_chunk,
               const std::vector<int64_t>& origin) {
  const Shape& chunk = source->array.chunk;
  const size_t row_bytes = byte_count(chunk.without(0), source->element_bytes);
  const auto group = static_cast<int64_t>(std::max<size_t>(kChecksumBlock / std::max<size_t>(row_bytes, 1), 1));
  const int64_t end = in_chunk.begin[0] + in_chunk.size[0];
  for (int64_t row = in_chunk.begin[0]; row < end; row += group) {
    const int64_t rows = std::min(group, end - row);
    work.push_back([source, key, row, rows, row_bytes, origin] {
      std::vector<std::byte> bytes(static_cast<size_t>(rows) * row_bytes);
      source->store.read(key, static_cast<uint64_t>(row) * row_bytes, bytes);
      Shape shape = source->array.chunk;
      shape[0] = rows;
      std::vector<int64_t> at = origin;
      at[0] += row;
      source->scatter(bytes, shape, at);
    });
  }
}

/// Reads `size` bytes of a value and unpacks them to `expected`.
std::vector<std::byte> read_packed(const Source& source, const std::string& key, uint64_t offset, uint64_t size,
                                   std::span<const Codec> codecs, size_t expected) {
  // Beyond what any codec here can pack, the sizes are not to be believed.
  constexpr uint64_t kMostRatio = 40000;
  const std::string where = source.store.describe(key);
  if (size > expected + expected / 8 + 4096 || expected / kMostRatio > size) {
    fail<RuntimeError>("{}: {} bytes cannot be a chunk of {}", where, size, expected);
  }
  std::vector<std::byte> bytes(size);
  source.store.read(key, offset, bytes);
  return decode(where, codecs, std::move(bytes), expected);
}

void read_chunk(const Source& source, const std::string& key, const std::vector<int64_t>& origin) {
  const size_t expected = byte_count(source.array.chunk, source.element_bytes);
  const uint64_t size = source.store.size(key).value_or(0);
  source.scatter(read_packed(source, key, 0, size, source.array.codecs, expected), source.array.chunk, origin);
}

/// Offset and size of each inner chunk of a shard.
std::vector<std::pair<uint64_t, uint64_t>> read_shard_index(const Source& source, const std::string& key,
                                                            size_t count) {
  const ZarrArray::Shards& shards = *source.array.shards;
  const std::string where = source.store.describe(key);
  const uint64_t size = source.store.size(key).value_or(0);
  const uint64_t index_bytes = 16 * uint64_t{count} + (shards.index_has_crc32c ? 4 : 0);
  if (size < index_bytes) fail<RuntimeError>("{}: {} bytes cannot hold an index of {} chunks", where, size, count);
  std::vector<std::byte> bytes(index_bytes);
  source.store.read(key, shards.index_at_end ? size - index_bytes : 0, bytes);
  if (shards.index_has_crc32c) strip_crc32c(where + " (index)", bytes);
  std::vector<std::pair<uint64_t, uint64_t>> index(count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&index[i].first, &bytes[16 * i], 8);
    std::memcpy(&index[i].second, &bytes[16 * i + 8], 8);
    const bool absent = index[i].first == UINT64_MAX && index[i].second == UINT64_MAX;
    if (!absent && (index[i].first > size || index[i].second > size - index[i].first)) {
      fail<RuntimeError>("{}: chunk {} of the shard lies outside the file", where, i);
    }
  }
  return index;
}

void read_shard(const Source& source, const std::string& key, const std::vector<int64_t>& origin) {
  const ZarrArray::Shards& shards = *source.array.shards;
  Shape grid;
  for (int64_t d = 0; d < shards.chunk.rank(); ++d) grid.push_back(source.array.chunk[d] / shards.chunk[d]);
  const auto index = read_shard_index(source, key, static_cast<size_t>(grid.num_elements()));
  const size_t expected = byte_count(shards.chunk, source.element_bytes);
  const Region wanted = relative_to(
      intersection(source.region, {.begin = origin, .size = {source.array.chunk.begin(), source.array.chunk.end()}}),
      origin);
  for_each_cell(wanted, shards.chunk, [&](const std::vector<int64_t>& cell) {
    const auto [offset, size] = index[static_cast<size_t>(first_element({cell, {}}, grid))];
    std::vector<int64_t> at = scaled(cell, shards.chunk);
    for (size_t d = 0; d < at.size(); ++d) at[d] += origin[d];
    if (offset == UINT64_MAX) return fill_zeros(source, key, shards.chunk, at);
    source.scatter(read_packed(source, key, offset, size, shards.codecs, expected), shards.chunk, at);
  });
}

void plan_chunk(std::vector<Work>& work, const SourcePtr& source, const std::vector<int64_t>& index) {
  const ZarrArray& array = source->array;
  const std::string key = source->key(array.chunk_key(index));
  const std::vector<int64_t> origin = scaled(index, array.chunk);
  const std::optional<uint64_t> size = source->store.size(key);
  if (!size) {
    work.push_back([=] { fill_zeros(*source, key, source->array.chunk, origin); });
    return;
  }
  if (array.shards) {
    work.push_back([=] { read_shard(*source, key, origin); });
    return;
  }
  if (!array.codecs.empty()) {
    work.push_back([=] { read_chunk(*source, key, origin); });
    return;
  }
  if (*size != byte_count(array.chunk, source->element_bytes)) {
    fail<RuntimeError>("{}: {} bytes, but {} of {} takes {}", source->store.describe(key), *size,
                       to_string(array.chunk), dtype_name(array.type.dtype),
                       byte_count(array.chunk, source->element_bytes));
  }
  const Region shared =
      intersection(source->region, {.begin = origin, .size = {array.chunk.begin(), array.chunk.end()}});
  const Region in_chunk = relative_to(shared, origin);
  const Region in_out = relative_to(shared, source->region.begin);
  if (is_contiguous(in_chunk, array.chunk) && is_contiguous(in_out, Shape(source->region.size))) {
    plan_contiguous(work, source, key, in_chunk, in_out);
  } else {
    plan_rows(work, source, key, in_chunk, origin);
  }
}

}  // namespace

std::vector<Work> plan_read(const ByteStore& store, const std::string& name, const ZarrArray& array,
                            const Region& region, std::span<std::byte> out) {
  const auto source = std::make_shared<const Source>(store, name, array, region, out, byte_size(array.type.dtype));
  constexpr int64_t kMostChunks = 10'000'000;
  int64_t chunks = 1;
  for (int64_t d = 0; d < array.chunk.rank() && chunks <= kMostChunks; ++d) {
    chunks *= region.size[static_cast<size_t>(d)] / array.chunk[d] + 1;
  }
  if (chunks > kMostChunks) {
    fail<RuntimeError>("{}: {} in chunks of {} is more chunks than are plausible", store.describe(name),
                       to_string(array.type), to_string(array.chunk));
  }
  std::vector<Work> work;
  for_each_cell(region, array.chunk, [&](const std::vector<int64_t>& index) { plan_chunk(work, source, index); });
  return work;
}

}  // namespace pax
