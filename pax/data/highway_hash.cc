#include "pax/data/highway_hash.h"

#include <cstring>

namespace pax::data {
namespace {

constexpr size_t kPacket = 32;
using Lanes = std::array<uint64_t, 4>;

uint64_t swap_halves(uint64_t x) { return (x >> 32) | (x << 32); }

/// Bytes of the two words moved as the paper's zipper merge says, added to `to_high` and `to_low`.
void zipper_add(uint64_t high, uint64_t low, uint64_t& to_high, uint64_t& to_low) {
  const auto byte = [](uint64_t word, int from, int to) { return ((word >> (8 * from)) & 0xff) << (8 * to); };
  to_low += byte(low, 3, 0) | byte(high, 4, 1) | byte(low, 2, 2) | byte(low, 5, 3) | byte(high, 6, 4) |
            byte(low, 1, 5) | byte(high, 7, 6) | byte(low, 0, 7);
  to_high += byte(high, 3, 0) | byte(low, 4, 1) | byte(high, 2, 2) | byte(high, 5, 3) | byte(high, 1, 4) |
             byte(low, 6, 5) | byte(high, 0, 6) | byte(low, 7, 7);
}

struct State {
  Lanes v0, v1, mul0, mul1;

  explicit State(const Lanes& key)
      : mul0{0xdbe6d5d5fe4cce2fULL, 0xa4093822299f31d0ULL, 0x13198a2e03707344ULL, 0x243f6a8885a308d3ULL},
        mul1{0x3bd39e10cb0ef593ULL, 0xc0acf169b5f18a8cULL, 0xbe5466cf34e90c6cULL, 0x452821e638d01377ULL} {
    for (size_t i = 0; i < 4; ++i) {
      v0[i] = mul0[i] ^ key[i];
      v1[i] = mul1[i] ^ swap_halves(key[i]);
    }
  }

  void update(const Lanes& lanes) {
    for (size_t i = 0; i < 4; ++i) {
      v1[i] += mul0[i] + lanes[i];
      mul0[i] ^= (v1[i] & 0xffffffff) * (v0[i] >> 32);
      v0[i] += mul1[i];
      mul1[i] ^= (v0[i] & 0xffffffff) * (v1[i] >> 32);
    }
    zipper_add(v1[1], v1[0], v0[1], v0[0]);
    zipper_add(v1[3], v1[2], v0[3], v0[2]);
    zipper_add(v0[1], v0[0], v1[1], v1[0]);
    zipper_add(v0[3], v0[2], v1[3], v1[2]);
  }

  void update(const char* packet) {
    Lanes lanes;
    std::memcpy(lanes.data(), packet, kPacket);
    update(lanes);
  }

  /// The last, incomplete packet: 1 to 31 bytes.
  void update_rest(std::string_view rest) {
    const size_t size = rest.size();
    const size_t size_mod4 = size & 3;
    for (uint64_t& v : v0) v += (static_cast<uint64_t>(size) << 32) + size;
    for (uint64_t& v : v1) {
      const auto rotate = [&](uint32_t half) { return (half << size) | (half >> (32 - size)); };
      v = (static_cast<uint64_t>(rotate(static_cast<uint32_t>(v >> 32))) << 32) | rotate(static_cast<uint32_t>(v));
    }
    char packet[kPacket] = {};
    const char* tail = rest.data() + (size - size_mod4);
    std::memcpy(packet, rest.data(), size - size_mod4);
    if ((size & 16) != 0) {
      std::memcpy(packet + 28, tail + size_mod4 - 4, 4);
    } else if (size_mod4 != 0) {
      packet[16] = tail[0];
      packet[17] = tail[size_mod4 >> 1];
      packet[18] = tail[size_mod4 - 1];
    }
    update(packet);
  }

  uint64_t finish() {
    for (int round = 0; round < 4; ++round) {
      update(Lanes{swap_halves(v0[2]), swap_halves(v0[3]), swap_halves(v0[0]), swap_halves(v0[1])});
    }
    return v0[0] + v1[0] + mul0[0] + mul1[0];
  }
};

}  // namespace

uint64_t highway_hash64(std::string_view bytes, const std::array<uint64_t, 4>& key) {
  State state(key);
  while (bytes.size() >= kPacket) {
    state.update(bytes.data());
    bytes.remove_prefix(kPacket);
  }
  if (!bytes.empty()) state.update_rest(bytes);
  return state.finish();
}

}  // namespace pax::data
