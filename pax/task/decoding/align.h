#pragma once

#include "pax/task/decoding/decoder.h"

namespace pax {

/// `x` [B, T, …] whose rows hold `lengths` elements in front, with those at the end instead and zeros before them.
Tensor right_align(Tensor x, Tensor lengths_b);

/// `x` [B, S] whose rows begin at `max_prefix - lengths`, moved to the front; zeros come in at the end.
Tensor left_align(Tensor x, Tensor lengths_b, int64_t max_prefix);

/// The prompts with their ends aligned; what is in front of a prompt is a segment of its own.
Prompt right_aligned(const DecodeInputs& inputs);

/// Each row `times` times, one after the other.
Tensor repeat_rows(Tensor x, int64_t times);

/// Every cached value [B, T, …] that grows with room for `steps` more positions.
void add_room(Tree<Tensor>& cache, int64_t steps);
/// Those that grow without what was read so far.
void forget(Tree<Tensor>& cache);

/// The ids of `prompt` and zeros behind each row's end.
Tensor without_tail(Tensor ids_bt, Tensor lengths_b);

/// bool: whether `ids` is one of `eos`.
Tensor is_any_of(Tensor ids, const std::vector<int64_t>& eos);

/// `x` [..., S] with `values` written at position `at` (i32 scalar) of the last dimension.
Tensor write_at(Tensor x, Tensor values, Tensor at);

/// [B, samples, …] from [B * samples, …].
Tensor split_samples(Tensor x, int64_t samples);

}  // namespace pax
