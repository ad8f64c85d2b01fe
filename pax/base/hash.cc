#include "pax/base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace pax {

uint64_t hash64(std::string_view bytes, uint64_t seed) { return XXH64(bytes.data(), bytes.size(), seed); }

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
