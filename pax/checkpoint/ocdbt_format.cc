#include "pax/checkpoint/ocdbt_format.h"

#include <algorithm>
#include <cstring>

#include "pax/base/error.h"
#include "pax/base/text.h"
#include "pax/checkpoint/codec.h"

namespace pax::ocdbt {
namespace {

constexpr uint64_t kMostEntries = 1 << 20;
constexpr uint64_t kMostPathBytes = 65535;
constexpr size_t kMostBodyBytes = size_t{1} << 30;
constexpr uint64_t kNone = UINT64_MAX;  // offset and length of an empty database's root

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

/// Paths must stay inside the database's folder.
void require_inside(const Cursor& cursor, std::string_view path) {
  for (const std::string& part : split(path, '/')) {
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) {
      cursor.damaged(fmt::format("data file {} lies outside the folder", json_quote(path)));
    }
  }
}

/// Strings of which each shares a prefix with the one before it.
struct PrefixCoded {
  std::vector<uint64_t> prefixes;  // the first is 0
  std::vector<uint64_t> suffixes;

  PrefixCoded(Cursor& cursor, size_t count) {
    prefixes = cursor.varints(count - 1);
    prefixes.insert(prefixes.begin(), 0);
    suffixes = cursor.varints(count);
  }

  std::vector<std::string> strings(Cursor& cursor) const {
    std::vector<std::string> result;
    std::string previous;
    for (size_t i = 0; i < suffixes.size(); ++i) {
      if (prefixes[i] > previous.size()) cursor.damaged("a shared prefix is longer than the name before it");
      if (suffixes[i] > kMostPathBytes || prefixes[i] + suffixes[i] > kMostPathBytes)
        cursor.damaged("a name is too long");
      previous.resize(prefixes[i]);
      previous.append(cursor.bytes(suffixes[i]));
      result.push_back(previous);
    }
    return result;
  }
};

/// A count of entries that take at least one byte each.
size_t entry_count(Cursor& cursor) { return cursor.varint(std::min<uint64_t>(kMostEntries, cursor.left())); }

std::vector<DataFile> parse_data_files(Cursor& cursor, std::string_view inherited_base) {
  const size_t count = entry_count(cursor);
  if (count == 0) return {};
  const PrefixCoded coded(cursor, count);
  const std::vector<uint64_t> base_lengths = cursor.varints(count);
  std::vector<DataFile> files;
  for (const std::string& path : coded.strings(cursor)) {
    const uint64_t base = base_lengths[files.size()];
    if (base > path.size()) cursor.damaged("a base path is longer than its path");
    files.push_back(
        {.path = std::string(inherited_base) + path, .base = std::string(inherited_base) + path.substr(0, base)});
    require_inside(cursor, files.back().path);
  }
  return files;
}

const DataFile& file_at(const Cursor& cursor, const std::vector<DataFile>& files, uint64_t id) {
  if (id >= files.size()) cursor.damaged("a data file is not in the table");
  return files[id];
}

/// The newest of the versions.
std::vector<NodePlace> parse_versions(Cursor& cursor) {
  const std::vector<DataFile> files = parse_data_files(cursor, "");
  const size_t count = entry_count(cursor);
  if (count == 0) cursor.damaged("there is no version");
  cursor.varints(count);  // generations, rising
  const std::string_view heights = cursor.bytes(count);
  const uint64_t file = cursor.varints(count).back();
  const uint64_t offset = cursor.varints(count).back();
  const uint64_t length = cursor.varints(count).back();
  if (offset == kNone && length == kNone) return {};
  return {{.file = file_at(cursor, files, file),
           .offset = offset,
           .length = length,
           .height = static_cast<uint8_t>(heights.back())}};
}

void parse_children(Cursor& cursor, Node& node, const std::vector<DataFile>& files, const NodePlace& place,
                    size_t count) {
  const PrefixCoded coded(cursor, count);
  const std::vector<uint64_t> shared = cursor.varints(count);
  const std::vector<std::string> keys = coded.strings(cursor);
  const std::vector<uint64_t> ids = cursor.varints(count);
  const std::vector<uint64_t> offsets = cursor.varints(count);
  const std::vector<uint64_t> lengths = cursor.varints(count);
  for (size_t i = 0; i < count; ++i) {
    if (shared[i] > keys[i].size()) cursor.damaged("a subtree's prefix is longer than its key");
    node.children.push_back({.file = file_at(cursor, files, ids[i]),
                             .offset = offsets[i],
                             .length = lengths[i],
                             .height = static_cast<uint8_t>(place.height - 1),
                             .key_prefix = place.key_prefix + keys[i].substr(0, shared[i])});
  }
}

void parse_leaves(Cursor& cursor, Node& node, const std::vector<DataFile>& files, const NodePlace& place,
                  size_t count) {
  const PrefixCoded coded(cursor, count);
  for (std::string& key : coded.strings(cursor)) node.leaves.push_back({.key = place.key_prefix + key});
  const std::vector<uint64_t> lengths = cursor.varints(count);
  const std::vector<uint64_t> kinds = cursor.varints(count);
  std::vector<Leaf*> indirect;
  for (size_t i = 0; i < count; ++i) {
    node.leaves[i].length = lengths[i];
    if (kinds[i] > 1) cursor.damaged("a value is of unknown kind");
    if (kinds[i] == 1) indirect.push_back(&node.leaves[i]);
  }
  const std::vector<uint64_t> ids = cursor.varints(indirect.size());
  const std::vector<uint64_t> offsets = cursor.varints(indirect.size());
  for (size_t i = 0; i < indirect.size(); ++i) {
    indirect[i]->file = file_at(cursor, files, ids[i]);
    indirect[i]->offset = offsets[i];
  }
  for (Leaf& leaf : node.leaves) {
    if (leaf.file.path.empty()) leaf.value = cursor.bytes(leaf.length);
  }
}

}  // namespace

void Cursor::damaged(std::string_view what) const { fail<RuntimeError>("{}: damaged: {}", where_, what); }

uint8_t Cursor::byte() { return static_cast<uint8_t>(bytes(1)[0]); }

std::string_view Cursor::bytes(uint64_t count) {
  if (count > left_.size()) damaged("it ends too early");
  const std::string_view result = left_.substr(0, count);
  left_.remove_prefix(count);
  return result;
}

uint64_t Cursor::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint64_t part = byte();
    value |= (part & 0x7f) << shift;
    if (part < 0x80) return value;
  }
  damaged("a number has too many digits");
}

uint64_t Cursor::varint(uint64_t most) {
  const uint64_t value = varint();
  if (value > most) damaged(fmt::format("a count is {}", value));
  return value;
}

std::vector<uint64_t> Cursor::varints(size_t count) {
  std::vector<uint64_t> values(count);
  for (uint64_t& value : values) value = varint();
  return values;
}

std::string open_envelope(std::string_view where, uint32_t magic, std::string_view bytes) {
  constexpr size_t kHeaderBytes = 12;
  if (bytes.size() < kHeaderBytes + 4) fail<RuntimeError>("{}: {} bytes are too few for a node", where, bytes.size());
  const auto found = static_cast<uint32_t>(__builtin_bswap32(static_cast<uint32_t>(little_endian(bytes.substr(0, 4)))));
  if (found != magic) fail<RuntimeError>("{}: begins with {:08x}, not {:08x}", where, found, magic);
  if (little_endian(bytes.substr(4, 8)) != bytes.size())
    fail<RuntimeError>("{}: damaged: its length does not fit", where);
  const auto content = strip_crc32c(where, std::as_bytes(std::span(bytes)));
  Cursor cursor(where, bytes.substr(kHeaderBytes, content.size() - kHeaderBytes));
  if (cursor.varint() != 0) fail<RuntimeError>("{}: of a version that is not known", where);
  const uint64_t compression = cursor.varint();
  const std::string_view packed = cursor.bytes(cursor.left());
  if (compression == 0) return std::string(packed);
  if (compression != 1) fail<RuntimeError>("{}: compression {} is not known", where, compression);
  const std::vector<std::byte> body = unpack_zstd(where, std::as_bytes(std::span(packed)), kMostBodyBytes);
  return {reinterpret_cast<const char*>(body.data()), body.size()};
}

Manifest parse_manifest(std::string_view where, std::string_view body) {
  Cursor cursor(where, body);
  cursor.bytes(16);  // uuid
  Manifest manifest{.numbered = cursor.varint(1) == 1};
  cursor.varint();                             // most bytes of an inline value
  cursor.varint();                             // most bytes of a node
  cursor.byte();                               // arity of the version tree
  if (cursor.varint(1) == 1) cursor.bytes(4);  // zstd level
  if (!manifest.numbered) manifest.root = parse_versions(cursor);
  return manifest;
}

Node parse_node(std::string_view where, std::string_view body, const NodePlace& place) {
  Cursor cursor(where, body);
  if (const uint8_t height = cursor.byte(); height != place.height) {
    cursor.damaged(fmt::format("height {} where {} is expected", height, place.height));
  }
  const std::vector<DataFile> files = parse_data_files(cursor, place.file.base);
  const size_t count = entry_count(cursor);
  if (count == 0) cursor.damaged("it is empty");
  Node node;
  if (place.height > 0) {
    parse_children(cursor, node, files, place, count);
  } else {
    parse_leaves(cursor, node, files, place, count);
  }
  return node;
}

}  // namespace pax::ocdbt
