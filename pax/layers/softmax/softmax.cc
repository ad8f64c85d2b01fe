#include "pax/layers/softmax/softmax.h"

#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

Tensor Softmax::logits_to_logp(Tensor logits) const { return log_softmax(logits); }

Tensor Softmax::emb_lookup(Tensor) const { fail("this layer has no table to look ids up in; use a shared embedding"); }

void Softmax::require_labels(const SoftmaxInputs& in) const {
  if (!in.class_ids && !in.class_probabilities) fail("neither class_ids nor class_probabilities are given");
}

Tensor soft_cap(Tensor logits, const std::optional<double>& cap) {
  if (!cap || *cap == 0) return logits;
  return tanh(logits / *cap) * *cap;
}

Tensor compute_z_loss(Tensor logits) { return square(logsumexp(logits, {-1}, Reduced::kKept)); }

Tensor class_one_hot(Tensor class_ids, int64_t num_classes) {
  return one_hot(squeeze(class_ids, {-1}), num_classes, DType::kF32);
}

}  // namespace pax
