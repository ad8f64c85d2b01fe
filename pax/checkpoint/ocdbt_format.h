#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pax::ocdbt {

inline constexpr uint32_t kManifestMagic = 0x0cdb3a2a;
inline constexpr uint32_t kNodeMagic = 0x0cdb20de;

/// Reads numbers and bytes from the front of a text. Throws RuntimeError, beginning with `where`, at its end.
class Cursor {
 public:
  Cursor(std::string_view where, std::string_view bytes) : where_(where), left_(bytes) {}

  uint8_t byte();
  uint64_t varint();
  /// A varint that is at most `most`, for sizes and counts.
  uint64_t varint(uint64_t most);
  std::vector<uint64_t> varints(size_t count);
  std::string_view bytes(uint64_t count);
  bool at_end() const { return left_.empty(); }
  size_t left() const { return left_.size(); }
  [[noreturn]] void damaged(std::string_view what) const;

 private:
  std::string_view where_;
  std::string_view left_;
};

/// The body of a manifest or node: magic number, length and checksum verified, unpacked.
std::string open_envelope(std::string_view where, uint32_t magic, std::string_view bytes);

/// A file that a node refers to: its path, and the part of it that paths in nodes read from it begin with.
struct DataFile {
  std::string path;
  std::string base;
};

/// Where an encoded node lies.
struct NodePlace {
  DataFile file;
  uint64_t offset = 0;
  uint64_t length = 0;
  uint8_t height = 0;
  std::string key_prefix;  ///< of every key below the node
};

/// What a manifest says of the newest version.
struct Manifest {
  bool numbered = false;        ///< the versions stand in manifest.%016x files
  std::vector<NodePlace> root;  ///< one, or none when the database is empty
};

Manifest parse_manifest(std::string_view where, std::string_view body);

/// A key with its value (height 0).
struct Leaf {
  std::string key;
  std::string value;  ///< unless `file` says where it is
  DataFile file;
  uint64_t offset = 0;
  uint64_t length = 0;
};

struct Node {
  std::vector<NodePlace> children;
  std::vector<Leaf> leaves;
};

/// `place` is where the body came from: its height and prefix must fit.
Node parse_node(std::string_view where, std::string_view body, const NodePlace& place);

}  // namespace pax::ocdbt
