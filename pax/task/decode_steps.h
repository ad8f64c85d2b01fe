#pragma once

#include "pax/task/steps.h"

namespace pax {

/// What the model's decoder writes to a batch of prompts. Inputs: variables, `batch/<field>`, `batch_index` (i32
/// scalar, which what is drawn depends on). Outputs: the decoder's results by name, see Decoder.
TracedProgram trace_decode_step(const SingleTask& task, const data::BatchSpec& batch);

/// A cache of what was read so far: `rows` texts of at most `length` tokens each.
struct CacheSize {
  int64_t rows = 1;
  int64_t length = 0;
};

/// The arrays of the cache by name, `cache/<layer>/<value>`. Throws ShapeError from models that do not write.
Tree<TensorType> cache_types(const SingleTask& task, const CacheSize& size);

/// Reads a prompt of up to `tokens` tokens into one row of the cache. Inputs: variables, `cache/…` (donated), `ids`
/// i32[1, tokens], `num_ids` i32 (those that count), `row` i32. Outputs: `cache/…`.
TracedProgram trace_prefill(const SingleTask& task, const CacheSize& size, int64_t tokens);

/// How a step takes the weights of repeated layers: stacked, as variables are; or each repetition's as an input of its
/// own, `<variable>#<repetition>` [1, …], so that no step copies a part out of a stack.
enum class RepeatedWeights : uint8_t { kStacked, kApart };

/// Reads one more token of each row. Inputs: variables, `cache/…` (donated), `ids` i32[rows], `positions` i32[rows]:
/// their places in their rows. Outputs: `cache/…`, `logits` f32[rows, V] of what follows.
TracedProgram trace_extend_step(const SingleTask& task, const CacheSize& size,
                                RepeatedWeights weights = RepeatedWeights::kStacked);

}  // namespace pax
