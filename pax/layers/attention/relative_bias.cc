#include "pax/layers/attention/relative_bias.h"

#include <cmath>

#include "pax/layers/attention/attention.h"
#include "pax/ops/constant.h"
#include "pax/ops/convert.h"
#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/gather.h"
#include "pax/ops/logic.h"
#include "pax/ops/reshape.h"

namespace pax {

RelativeBias::RelativeBias(const Config& config, const Scope& scope) : Layer(config, scope), config_(config) {
  const auto entries = static_cast<double>(config.num_heads * config.relative_attention_num_buckets);
  wrb_ = param(
      "wrb", {.shape = {config.num_heads, config.relative_attention_num_buckets},
              .init = config.use_xavier_init ? WeightInit::xavier() : WeightInit::gaussian(1.0 / std::sqrt(entries))});
}

Tensor RelativeBias::bias(Tensor query_pos_bt, Tensor key_pos_bs) const {
  if (!key_pos_bs) key_pos_bs = query_pos_bt;
  if (config_.use_length_as_position && !do_eval()) {
    const TensorType type{DType::kS32, {1, query_pos_bt.dim(1), key_pos_bs.dim(1)}};
    return weights_of(iota(graph(), type, 2) - iota(graph(), type, 1));
  }
  const auto integers = [](Tensor x) { return convert(x, DType::kS32); };
  return weights_of(expand_dims(integers(key_pos_bs), 1) - expand_dims(integers(query_pos_bt), 2));
}

Tensor RelativeBias::bias_of_step(Tensor time_step, int64_t length) const {
  const Tensor now = step_of_rows(convert(time_step, DType::kS32), 3);
  return weights_of(iota(graph(), {DType::kS32, {1, 1, length}}, 2) - now);
}

Tensor RelativeBias::weights_of(Tensor relative_position_bts) const {
  const Tensor hot = one_hot(bucket(relative_position_bts), config_.relative_attention_num_buckets, fprop_dtype());
  return einsum("nx,btsx->bnts", wrb_, hot);
}

Tensor RelativeBias::bucket(Tensor relative_position) const {
  int64_t buckets = config_.relative_attention_num_buckets;
  Tensor distance = -relative_position;
  Tensor base;
  if (config_.bidirectional) {
    buckets /= 2;
    base = convert(lt(distance, 0.0), DType::kS32) * static_cast<double>(buckets);
    distance = abs(distance);
  } else {
    distance = maximum(distance, 0.0);
  }
  // Half of the buckets hold one distance each, the rest grow with its logarithm.
  const int64_t exact = buckets / 2;
  const double span = std::log(static_cast<double>(config_.relative_attention_max_distance) / exact);
  const Tensor ratio = convert(maximum(distance, 1.0), DType::kF32) / static_cast<double>(exact);
  const Tensor grown = convert(log(ratio) / span * static_cast<double>(buckets - exact), DType::kS32);
  const Tensor far = minimum(grown + static_cast<double>(exact), static_cast<double>(buckets - 1));
  const Tensor bucket = select(lt(distance, static_cast<double>(exact)), distance, far);
  return base ? base + bucket : bucket;
}

template const config::ConfigType& config::type_of<RelativeBias::Config>();

}  // namespace pax
