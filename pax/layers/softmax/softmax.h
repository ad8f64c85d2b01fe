#pragma once

#include "pax/layers/layer.h"

namespace pax {

// D: depth of the input, V: number of classes. `...` are the same dimensions throughout.

/// What a softmax layer is asked: scores of `inputs` against their labels, as classes or as probabilities.
struct SoftmaxInputs {
  Tensor inputs;               ///< [..., D]
  Tensor class_weights;        ///< [..., 1]
  Tensor class_ids;            ///< [..., 1], integers; or null
  Tensor class_probabilities;  ///< [..., V]; or null
};

/// What it answers; null where a layer does not give it. Scalars are f32 unless said otherwise.
struct SoftmaxOutput {
  Tensor logits;              ///< [..., V], type of the input
  Tensor log_probs;           ///< [..., V], type of the input
  Tensor per_example_argmax;  ///< [...], i32
  Tensor per_example_xent;    ///< [...], f32
  Tensor total_xent;          ///< sum of weight * per_example_xent
  Tensor total_weight;
  Tensor avg_xent;
  Tensor avg_xent_weight;  ///< what avg_xent is a mean over, where it is not total_weight
  Tensor accuracy;         ///< weighted share of class_ids that are the argmax
  Tensor z_loss;           ///< already added to the auxiliary losses
};

/// From activations to classes, and for those that share their table from classes to activations.
class Softmax : public Layer {
 public:
  using Interface = Softmax;
  using Layer::fprop;
  using Layer::Layer;

  /// [..., D] -> [..., V].
  virtual Tensor get_logits(Tensor inputs) const = 0;
  virtual Tensor logits_to_logp(Tensor logits) const;
  /// Adds its auxiliary losses. Throws ShapeError when neither kind of label is given.
  virtual SoftmaxOutput fprop(const SoftmaxInputs& in) const = 0;
  /// Integers [...] -> [..., D]. Throws ShapeError from layers without a table.
  virtual Tensor emb_lookup(Tensor ids) const;

 protected:
  void require_labels(const SoftmaxInputs& in) const;
};

/// cap * tanh(logits / cap), or `logits` themselves when there is no cap or it is 0.
Tensor soft_cap(Tensor logits, const std::optional<double>& cap);

/// logsumexp(logits, -1)^2, [..., V] -> [..., 1].
Tensor compute_z_loss(Tensor logits);

/// f32 [..., V] from ids [..., 1].
Tensor class_one_hot(Tensor class_ids, int64_t num_classes);

}  // namespace pax
