#include "pax/layers/softmax/sigmoid_cross_entropy.h"

#include <fmt/format.h>

#include "pax/base/error.h"
#include "pax/ops/convert.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/identity.h"
#include "pax/ops/logic.h"
#include "pax/ops/reduce.h"
#include "pax/ops/reshape.h"

namespace pax {

SigmoidCrossEntropy::SigmoidCrossEntropy(const Config& config, const Scope& scope)
    : Softmax(config, scope), config_(config) {
  if (!config.feed_forward_tpl) {
    if (config.input_dims == config.num_classes) return;
    pax::fail<ConfigError>(
        "{}: without feed_forward_tpl the input is the logits, but input_dims is {} and num_classes {}", scope.path(),
        config.input_dims, config.num_classes);
  }
  Tpl<Layer> ffn = config.feed_forward_tpl.clone();
  ffn.set("input_dims", config.input_dims);
  ffn.set("output_dims", config.num_classes);
  ffn.set("activation_tpl", Identity::Config{});
  ffn.set("bias_init", config.bias_init);
  ffn.set("weight_split_dims_mapping", config.weight_split_dims_mapping);
  ffn.set("activation_split_dims_mapping", config.activation_split_dims_mapping);
  logits_ffn_ = child("logits_ffn", ffn);
}

Tensor SigmoidCrossEntropy::get_logits(Tensor inputs) const {
  if (!logits_ffn_) return inputs;
  const Tensor logits = logits_ffn_->fprop(inputs);
  return soft_cap(logits, config_.soft_cap_logits);
}

Tensor SigmoidCrossEntropy::logits_to_logp(Tensor logits) const { return -softplus(-convert(logits, DType::kF32)); }

SoftmaxOutput SigmoidCrossEntropy::fprop(const SoftmaxInputs& in) const {
  require_labels(in);
  const DType dtype = in.inputs.dtype();
  const int64_t classes = config_.num_classes;
  if (!in.class_probabilities && classes == 1) {
    fail("class_ids with num_classes = 1 are always the one class; give class_probabilities");
  }
  const int64_t weights_a_label = in.class_weights.dim(-1);
  if (weights_a_label != 1 && weights_a_label != classes) {
    fail(fmt::format("class_weights are {}; their last axis must be 1 or num_classes = {}",
                     to_string(in.class_weights.type()), classes));
  }
  const Tensor logits = get_logits(in.inputs);
  const Tensor labels =
      in.class_probabilities ? in.class_probabilities : stop_gradient(class_one_hot(in.class_ids, classes));
  const Tensor weights = convert(in.class_weights, DType::kF32);

  // max(x, 0) - x y + log(1 + e^-|x|), with the gradient 0 of the first and the last term at x = 0 where both meet.
  const Tensor wide = convert(logits, DType::kF32);
  const Tensor positive = gt(wide, 0.0);
  const Tensor minus_abs = select(positive, -wide, wide);
  Tensor per_class = select(positive, wide, 0.0) - wide * convert(labels, DType::kF32) + log1p(exp(minus_abs));
  if (weights_a_label == classes) per_class = per_class * weights;

  SoftmaxOutput out;
  const Tensor per_example = reduce_sum(per_class, {-1});
  const Tensor total =
      weights_a_label == classes ? reduce_sum(per_example) : reduce_sum(expand_dims(per_example, -1) * weights);
  out.logits = convert(logits, dtype);
  out.log_probs = convert(logits_to_logp(logits), dtype);
  out.per_example_argmax = argmax(wide, -1);
  out.per_example_xent = convert(per_example, dtype);
  out.total_weight = reduce_sum(weights);
  out.total_xent = convert(total, dtype);
  out.avg_xent = convert(total / (out.total_weight + 1e-6), dtype);
  return out;
}

template const config::ConfigType& config::type_of<SigmoidCrossEntropy::Config>();

}  // namespace pax
