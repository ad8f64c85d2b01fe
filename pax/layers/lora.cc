#include "pax/layers/lora.h"

#include "pax/ops/dot.h"
#include "pax/ops/elementwise.h"
#include "pax/ops/reshape.h"

namespace pax {

LoraWeights declare_lora(const LoraConfig& config, const Scope& scope, const Shape& input, const Shape& output,
                         std::optional<WeightInit> otherwise) {
  const auto thin = [&](const Shape& shape) {
    Shape with_rank = shape;
    with_rank.push_back(config.rank);
    return with_rank;
  };
  return {.a = scope.param("lora_a", {.shape = thin(input), .init = config.lora_init ? config.lora_init : otherwise}),
          .b = scope.param("lora_b", {.shape = thin(output), .init = WeightInit::constant(0.0)})};
}

Tensor with_lora(Tensor w, const LoraWeights& lora) {
  return lora.a ? w + reshape(einsum("...dr,...nr->...dn", lora.a, lora.b), w.shape()) : w;
}

LoraLinear::LoraLinear(const Config& config, const Scope& scope) : Linear(config, scope) {
  w_ =
      with_lora(w_, declare_lora(config, this->scope(), {config.input_dims}, {config.output_dims}, config.weight_init));
}

LoraAttentionProjection::LoraAttentionProjection(const Config& config, const Scope& scope)
    : AttentionProjection(config, scope) {
  w_ = with_lora(w_, declare_lora(config, this->scope(), {config.input_dim}, {config.dim_per_head * config.num_heads}));
}

LoraCombinedQKVProjection::LoraCombinedQKVProjection(const Config& config, const Scope& scope)
    : CombinedQKVProjectionLayer(config, scope) {
  w_ = with_lora(
      w_, declare_lora(config, this->scope(), {3, config.input_dim}, {3, config.dim_per_head * config.num_heads}));
}

template const config::ConfigType& config::type_of<LoraLinear::Config>();
template const config::ConfigType& config::type_of<LoraAttentionProjection::Config>();
template const config::ConfigType& config::type_of<LoraCombinedQKVProjection::Config>();

}  // namespace pax
