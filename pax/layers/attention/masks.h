#pragma once

#include <array>
#include <optional>

#include "pax/ir/op.h"

namespace pax {

// Attention masks: 0 where a query may look at a key, a large negative number where not (praxis attentions.py).
// B: batch, T: queries, S: keys. Time positions have one mask a head for all heads.

/// -0.7 times the largest value of a floating type: what masked entries hold.
double large_negative_number(DType dtype);

/// How far a position sees; absent: without limit.
struct Context {
  std::optional<int64_t> left;   ///< positions up to and with the present one
  std::optional<int64_t> right;  ///< positions after it
};

/// [rows, columns]: masks what lies outside of the context of each row. Throws nothing.
Tensor limited_context_mask(Graph& graph, const Context& context, int64_t rows, int64_t columns, DType dtype);

/// [1, 1, T, T] from an input of T positions, [B, T, D], in its type: the future is masked.
Tensor causal_mask(Tensor x_btd);

/// [B, 1, T, S]: masks keys of other segments. A null `source_segment_ids` means the queries' own.
Tensor segment_mask(Tensor segment_ids_bt, Tensor source_segment_ids_bs, DType dtype);

/// [B, 1, T, T]: future and other segments are masked. `causal_bt` (may be null) is 1 at keys to which the causal mask
/// applies and 0 at those that all may see, as the prefix of a prefix LM.
Tensor causal_segment_mask(Tensor segment_ids_bt, DType dtype, Tensor causal_bt = {});

/// [B, 1, 1, T] from 0/1 paddings [B, T].
Tensor paddings_mask(Tensor paddings_bt, DType dtype);

/// What either masks. Of two masks with 1 and with T queries the first also masks the padded queries' own rows.
Tensor merge_masks(Tensor a, Tensor b);

/// `mask` [1|B, N|1, T, S] without what is further than `window` (positions to the left, to the right) from the query.
/// Queries count from `first_query` (an integer scalar; null: 0), keys from `first_key`.
Tensor within_window(Tensor mask, const std::array<int64_t, 2>& window, Tensor first_query, int64_t first_key);

/// Logits with -0.7 * max at masked entries, whatever they were. The mask broadcasts.
Tensor apply_mask(Tensor logits, Tensor mask);

/// `1 - masked everywhere` along the last dimension, in `dtype`: 0 for queries that may look nowhere.
Tensor sees_something(Tensor mask, DType dtype);

}  // namespace pax
