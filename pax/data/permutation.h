#pragma once

#include <cstdint>

namespace pax::data {

/// A pseudo-random permutation of [0, size) in constant memory: a Feistel network with cycle walking.
/// The same (size, key) gives the same order on every machine.
class Permutation {
 public:
  /// Throws ConfigError when `size` is negative.
  Permutation(int64_t size, uint64_t key);

  /// The element at `position`, which lies in [0, size).
  int64_t operator()(int64_t position) const;
  int64_t size() const { return size_; }

 private:
  int64_t size_;
  uint64_t key_;
  int half_bits_;
};

/// The endless order of a data set: each epoch is one permutation of all records, keyed by seed and epoch, and the
/// epochs follow each other. Position p is a pure function of (size, seed, p).
class EpochOrder {
 public:
  enum class Mode { kSequential, kShuffled };

  EpochOrder(int64_t size, uint64_t seed, Mode mode);

  /// The record at global position `position` >= 0; `size` must not be zero.
  int64_t operator()(int64_t position) const;
  int64_t size() const { return size_; }

 private:
  int64_t size_;
  uint64_t seed_;
  Mode mode_;
};

/// A well-mixed 64-bit value of two: keys for epochs, lanes and sources.
uint64_t mix_key(uint64_t a, uint64_t b);

}  // namespace pax::data
