#include "pax/base/hash.h"

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <xxhash.h>

#include <algorithm>

namespace pax {

uint64_t hash64(std::string_view bytes, uint64_t seed) { return XXH64(bytes.data(), bytes.size(), seed); }

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t previous) {
  constexpr size_t kMost = 1 << 30;  // the library counts bytes in an int
  uint32_t state = ~previous;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kMost));
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
    state = crc32_iscsi(data, static_cast<int>(piece.size()), state);
    bytes = bytes.subspan(piece.size());
  }
  return ~state;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(std::as_bytes(std::span(bytes)));
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

Digest::Digest() : state_(XXH3_createState()) { XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_)); }

Digest::~Digest() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

Digest& Digest::update(std::string_view bytes) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size());
  return *this;
}

std::string Digest::hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace pax
