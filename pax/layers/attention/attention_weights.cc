#include "pax/layers/attention/attention_weights.h"

#include "pax/layers/attention/masks.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/reduce.h"

namespace pax {

Tensor attention_weights(Tensor logits, Tensor mask, const AttentionSoftmax& options, DType dtype) {
  if (options.logit_cap > 0) logits = tanh(logits / options.logit_cap) * options.logit_cap;
  const Tensor masked = apply_mask(convert(logits, DType::kF32), mask);
  if (!options.extra_logit) return convert(softmax(masked), dtype);
  const double extra = *options.extra_logit;
  const Tensor top = maximum(stop_gradient(reduce_max(masked, {-1}, Reduced::kKept)), extra);
  const Tensor sum = reduce_sum(exp(masked - top), {-1}, Reduced::kKept) + exp(extra - top);
  return convert(exp(masked - log(sum) - top), dtype);
}

}  // namespace pax
