#pragma once

#include "pax/array/tree.h"
#include "pax/layers/layer.h"
#include "pax/task/decoding/decode_model.h"

namespace pax {

/// A metric and what it is a mean over: averages over batches weigh by `weight`. Both f32 scalars.
struct TracedMetric {
  Tensor value;
  Tensor weight;
};

/// What a model makes of a batch.
struct ModelOutput {
  Tree<TracedMetric> metrics;  ///< `total_loss`, `avg_xent`, `log_pplx`, …
  Tree<Tensor> per_example;    ///< leading dimension: rows of the batch
};

/// A model head: batch in, loss and metrics out (praxis base_model.BaseModel).
class BaseModel : public Layer {
 public:
  using Interface = BaseModel;
  using Layer::Layer;

  /// `batch`: the input's tensors by name (`ids`, `labels`, `weights`, …). Throws ShapeError naming a field that is
  /// missing or of the wrong shape.
  virtual ModelOutput compute_loss(const Tree<Tensor>& batch) const = 0;

  /// What the model writes to the prompts of `batch` (`ids`, `paddings`; `prefix_lengths` in place of the latter): see
  /// Decoder for the results. Throws ShapeError from models that do not write.
  virtual Tree<Tensor> decode(const Tree<Tensor>& batch) const;

  /// The model token by token, for what writes outside of the program. It lives as long as this model. Throws ShapeError
  /// from models that do not write from a prompt alone.
  virtual std::unique_ptr<DecodeModel> decode_model() const;
};

}  // namespace pax
