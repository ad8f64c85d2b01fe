#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pax/array/tree.h"

namespace pax::data {

/// Names of a batch's fields and the type of each.
using BatchSpec = Tree<TensorType>;

/// The spec of a language-model batch: ids, labels, segment_ids, segment_pos i32[b,t]; weights, paddings f32[b,t].
BatchSpec lm_batch_spec(int64_t batch_size, int64_t seq_len);

/// A language-model batch being filled. Starts as all padding: ids 0, weights 0, paddings 1, segment 0.
class LmBatch {
 public:
  LmBatch(int64_t batch_size, int64_t seq_len);

  /// Appends one segment to `row`: inputs `ids`, targets `labels`, weight of each target. All three have one length,
  /// which must fit in what is left of the row. Segments count from 1, positions from 0.
  void append(int64_t row, std::span<const int32_t> ids, std::span<const int32_t> labels,
              std::span<const float> weights);

  /// Tokens that `row` can still take.
  int64_t room(int64_t row) const { return seq_len_ - used_[static_cast<size_t>(row)]; }

  /// The batch; this builder must not be used afterwards.
  HostTree take();

 private:
  int64_t seq_len_;
  std::vector<int64_t> used_;
  std::vector<int32_t> segments_;
  HostArray ids_, labels_, weights_, paddings_, segment_ids_, segment_pos_;
};

/// How much of a batch is real.
struct TokenCount {
  int64_t slots = 0;     ///< all positions of the batch
  int64_t tokens = 0;    ///< positions that are not padding
  double weight = 0;     ///< sum of the target weights
  int64_t segments = 0;  ///< documents, or pieces of documents
};
TokenCount count_tokens(const HostTree& batch);

/// Throws RuntimeError, naming field and both types, unless `batch` has exactly the fields and types of `spec`.
void require_spec(const HostTree& batch, const BatchSpec& spec, const std::string& input_name);

/// Throws RuntimeError naming row, column and id when `ids` or `labels` holds an id outside [0, vocab_size); labels of
/// weight 0 are not checked.
void require_ids_below(const HostTree& batch, int64_t vocab_size);

/// Every array with `rows` zero rows added: fields named `paddings` get ones.
HostTree pad_rows(const HostTree& batch, int64_t rows);

}  // namespace pax::data
