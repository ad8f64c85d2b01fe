#pragma once

#include "pax/array/tree.h"
#include "pax/layers/layer.h"

namespace pax {

// B: batch, T: queries, S: keys, D: model dimension, N: heads, K: heads of keys and values, H: dimension of a head.

/// What a layer keeps from step to step of decoding (keys and values so far), by layer path and name.
using DecodeCache = Tree<Tensor>;
/// Whether a cached value [B, S, …] has a position for each step. Those of cross attention have the source's.
bool grows_with_steps(std::string_view cached_name);

struct AttentionInputs {
  Tensor query_btd, key_bsd, value_bsd;
  Tensor mask;                                ///< [1|B, 1, 1|T, S]: large negative where a query may not look
  Tensor query_segment_pos, key_segment_pos;  ///< [B, T], [B, S]: positions within the segments; may be null
  DecodeCache* cache = nullptr;               ///< filled with what later steps need
};

struct AttentionOutput {
  Tensor encoded_btd;
  Tensor probs;  ///< [B, N, T, S]; null where it is never whole
};

/// A time step, of all rows (a scalar) or of each [B], as it broadcasts against [B, …] of `rank` dimensions.
Tensor step_of_rows(Tensor time_step, int64_t rank);

/// One step of decoding.
struct AttentionStep {
  Tensor query_bd;
  Tensor mask;         ///< [1|B, 1, S]
  Tensor time_step;    ///< i32: where in the cache this step goes; a scalar, or [B]: rows have places of their own
  Tensor segment_pos;  ///< [B]: position within the segment; null: the time step
  DecodeCache* cache = nullptr;
  enum class Kind : uint8_t { kSelf, kCross };
  Kind kind = Kind::kSelf;  ///< cross attention reads the cache and leaves it as it is
};

/// Attention with projections of its own.
class Attention : public Layer {
 public:
  using Interface = Attention;
  using Layer::fprop;
  using Layer::Layer;

  virtual AttentionOutput fprop(const AttentionInputs& inputs) const = 0;

  /// [B, D]: what the present query takes from the cache and itself. Throws ShapeError where it is not supported.
  virtual Tensor extend_step(const AttentionStep& step) const;

 protected:
  /// Puts a value in the cache, if there is one, under this layer's path.
  void keep(DecodeCache* cache, std::string_view name, Tensor value) const;
  /// The cached value of that name. Throws ShapeError when there is none.
  Tensor kept(const AttentionStep& step, std::string_view name) const;
  /// Throws ShapeError when rows have steps of their own, which this form of attention does not know.
  void require_one_step(Tensor time_step) const;
  /// Writes `value` [B, ...] at `step.time_step` of dimension 1 of the cached [B, S, ...], and returns that.
  Tensor extend(const AttentionStep& step, std::string_view name, Tensor value) const;
};

}  // namespace pax
