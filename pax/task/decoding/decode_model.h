#pragma once

#include "pax/array/tree.h"
#include "pax/ir/graph.h"

namespace pax {

// B: rows, T: positions of the prompt, S: positions of the cache, V: vocabulary.

/// Prompts as a model reads them, ends aligned.
struct Prompt {
  Tensor ids_bt;
  Tensor paddings_bt;                     ///< 1 at padding
  Tensor segment_ids_bt, segment_pos_bt;  ///< null: no padding in front
  Tensor causal_bt;                       ///< 0 in a prefix that all may see; null: causal everywhere
};

/// One token a row.
struct DecodeStep {
  Tensor ids_b;
  Tensor time_step;      ///< i32: where in the cache it goes; a scalar, or [B]: each row has a place of its own
  Tensor segment_pos_b;  ///< its position in its row
  int64_t max_length = 0;
};

/// A model as decoders see it.
class DecodeModel {
 public:
  virtual ~DecodeModel() = default;
  virtual Graph& graph() const = 0;
  /// Reads the prompts; gives what later steps need: by name, [B, T, …].
  virtual Tree<Tensor> prefill(const Prompt& prompt) const = 0;
  /// [B, V]: logits of what follows the token; `cache` [B, S, …] takes the token in.
  virtual Tensor step(const DecodeStep& step, Tree<Tensor>& cache) const = 0;
  /// A key (u32[2]) for what is drawn. Throws ShapeError when the program has none.
  virtual Tensor random_key() const = 0;
};

}  // namespace pax
