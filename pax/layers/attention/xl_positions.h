#pragma once

#include "pax/layers/positions.h"

namespace pax {

/// What attention by relative positions adds to plain attention (Dai et al. 2019, Transformer-XL, 3.3): projected
/// sinusoids of the distance, and biases of the queries.
struct XlPositions {
  Child<BasePositionalEmbedding> pos_emb;
  Child<Layer> pos_proj;
  Tensor u, v;  ///< [N, H]: added to queries for content and for position; null without biases

  /// [distances, N, H] of the distances in `distance` (i32, one dimension).
  Tensor embed(Tensor distance) const;
  Tensor for_content(Tensor query) const;
  Tensor for_position(Tensor query) const;
};

}  // namespace pax
