#include "pax/data/permutation.h"

#include <bit>

#include "pax/base/error.h"

namespace pax::data {
namespace {

constexpr int kRounds = 6;

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

uint64_t mix_key(uint64_t a, uint64_t b) { return mix(mix(a + 0x9e3779b97f4a7c15ULL) ^ (b + 0xd1b54a32d192ed03ULL)); }

Permutation::Permutation(int64_t size, uint64_t key) : size_(size), key_(key), half_bits_(1) {
  if (size < 0) fail<ConfigError>("permutation of {} elements: the size must not be negative", size);
  const int bits = size <= 1 ? 1 : std::bit_width(static_cast<uint64_t>(size - 1));
  half_bits_ = (bits + 1) / 2;
}

int64_t Permutation::operator()(int64_t position) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  auto value = static_cast<uint64_t>(position);
  // The network permutes [0, 4^half_bits), less than four times the size: walk until back inside.
  do {
    uint64_t left = value >> half_bits_;
    uint64_t right = value & mask;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t next = left ^ (mix_key(key_ + static_cast<uint64_t>(round), right) & mask);
      left = right;
      right = next;
    }
    value = (left << half_bits_) | right;
  } while (value >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(value);
}

EpochOrder::EpochOrder(int64_t size, uint64_t seed, Mode mode) : size_(size), seed_(seed), mode_(mode) {
  if (size < 0) fail<ConfigError>("order of {} records: the size must not be negative", size);
}

int64_t EpochOrder::operator()(int64_t position) const {
  const int64_t epoch = position / size_;
  const int64_t within = position % size_;
  if (mode_ == Mode::kSequential) return within;
  return Permutation(size_, mix_key(seed_, static_cast<uint64_t>(epoch)))(within);
}

}  // namespace pax::data
