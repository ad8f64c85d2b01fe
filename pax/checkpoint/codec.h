#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pax {

/// Ways in which the bytes of a chunk are packed.
enum class Codec : uint8_t { kZstd, kGzip, kZlib, kCrc32c };

/// Undoes `codecs`, last first. `expected` is the size that the result must have: no more is ever unpacked. Throws
/// RuntimeError, beginning with `where`.
std::vector<std::byte> decode(std::string_view where, std::span<const Codec> codecs, std::vector<std::byte> bytes,
                              size_t expected);

/// Unpacks zstd data of at most `most` bytes.
std::vector<std::byte> unpack_zstd(std::string_view where, std::span<const std::byte> bytes, size_t most);

/// `bytes` without the CRC-32C (little-endian) at the end, which must be theirs.
std::span<const std::byte> strip_crc32c(std::string_view where, std::span<const std::byte> bytes);

}  // namespace pax
