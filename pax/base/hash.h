#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pax {

/// 64-bit xxHash of `bytes`: stable across machines and versions, not cryptographic.
uint64_t hash64(std::string_view bytes, uint64_t seed = 0);

/// CRC-32C (Castagnoli), as zarr, TFRecord and iSCSI use it; `previous` continues the checksum of earlier bytes.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t previous = 0);

/// The CRC-32C of `bytes` in the rotated form that TFRecord files hold.
uint32_t masked_crc32c(std::string_view bytes);

/// 128-bit xxHash of everything given to `update`, as 32 hexadecimal digits: names files by content.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  Digest& update(std::string_view bytes);
  std::string hex() const;

 private:
  void* state_;
};

}  // namespace pax
