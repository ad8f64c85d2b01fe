#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pax {

/// Files are summed in blocks of this many bytes, so that threads share the work and slices can be verified.
inline constexpr size_t kChecksumBlock = size_t{16} << 20;

struct FileChecksums {
  size_t bytes = 0;
  std::vector<uint32_t> crc32c;  ///< one a block
  bool operator==(const FileChecksums&) const = default;
};

/// Contents of pax_checksums.json.
struct Checksums {
  int64_t step = 0;
  double commit_time = 0;                                   ///< seconds since 1970
  std::map<std::string, FileChecksums, std::less<>> files;  ///< by path inside the checkpoint
};

size_t block_count(size_t bytes);

std::string to_json(const Checksums& checksums);

/// Throws RuntimeError, beginning with `where`, for anything `to_json` could not have written.
Checksums parse_checksums(std::string_view where, std::string_view json);

}  // namespace pax
