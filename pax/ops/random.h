#pragma once

#include <cstdint>

#include "pax/ir/graph.h"

namespace pax {

// Random numbers by Threefry-2x32 (Salmon et al. 2011, 20 rounds): pure functions of a key (u32[2]) and the place in
// the array, so they are the same on any mesh and when done again. Equal to the bit to JAX's `jax.random` with
// `jax_threefry_partitionable`. Keys may have dimensions in front of the 2; results then have them in front too.

/// The key of a seed.
Tensor random_key(Graph& graph, uint64_t seed);

/// A key for each `data` (integer, of the key's dimensions in front): streams of different data are independent.
Tensor fold_in(Tensor key, Tensor data);
Tensor fold_in(Tensor key, uint32_t data);
/// `count` keys, u32[count,2], from one key u32[2].
Tensor split_key(Tensor key, int64_t count);

/// Uniform bits as u32 or u64.
Tensor random_bits(Tensor key, const Shape& shape, DType dtype = DType::kU32);

/// Floating type, in [low, high).
Tensor random_uniform(Tensor key, TensorType type, double low = 0, double high = 1);
/// Mean 0, variance 1. Types narrower than float32 are drawn in float32 and rounded.
Tensor random_normal(Tensor key, TensorType type);
/// The normal distribution cut to [low, high], in standard deviations.
Tensor random_truncated_normal(Tensor key, TensorType type, double low, double high);
/// -log(-log(u)): adding it to logits and taking argmax draws from their softmax.
Tensor random_gumbel(Tensor key, TensorType type);
/// bool, true with probability `p`.
Tensor random_bernoulli(Tensor key, const Shape& shape, double p);
/// Integers in [low, high), by remainder of 32 random bits.
Tensor random_integers(Tensor key, TensorType type, int64_t low, int64_t high);

/// The device's own generator (StableHLO's rng_bit_generator, Philox): faster where it is built in, but its numbers
/// depend on the platform. `state` is u64[2]; gives the next state and the bits.
std::pair<Tensor, Tensor> rng_bit_generator(Tensor state, TensorType type);

}  // namespace pax
